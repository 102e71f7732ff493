"""The one training loop; it needs torch, the extra `train`.

Every random choice of an epoch follows from the seed and the epoch's number, so a training that
was stopped goes on, and ends as if it had not been.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edhie.errors import GeneratorError, MissingExtraError
from edhie.expr import Forest
from edhie.generators.config import TrainConfig
from edhie.generators.folder import read_weights
from edhie.generators.hvae.hvae import HVAE
from edhie.generators.schedules import SCHEDULES

try:
    import torch

    from edhie.generators.hvae.model import HVAEModel, reconstruction_and_kl
except ImportError as error:
    raise MissingExtraError("training a model", "train") from error

WARM_UP = 0.1  # the share of the steps in which the learning rate rises
STATE, STATE_WEIGHTS = "training.json", "training.safetensors"
MOMENTS = ("exp_avg", "exp_avg_sq")


@dataclass(frozen=True)
class Epoch:
    """What one pass over the corpus did."""

    epoch: int
    loss: float
    reconstruction: float
    divergence: float
    weight: float
    validation: float
    trees_per_s: float


Watcher = Callable[[Epoch, int], None]


def train(
    forest: Forest,
    config: TrainConfig = TrainConfig(),  # noqa: B008 -- frozen
    *,
    weights: NDArray[np.float64] | None = None,
    start: HVAE | None = None,
    folder: str | Path | None = None,
    on_epoch: Watcher = lambda epoch, total: None,
) -> tuple[HVAE, list[Epoch]]:
    """Train an HVAE on a forest; the model, and one record an epoch.

    `weights` make some expressions count more; `start` is a model to go on from (fine-tuning).
    With a `folder`, the state is kept there after each epoch, a training found there goes on, and
    Ctrl-C loses at most the epoch under way. With `patience` the best epoch's weights are returned.
    """
    if len(forest) == 0:
        raise GeneratorError("there is nothing to learn from: the forest is empty")
    if weights is not None and (len(weights) != len(forest) or np.any(np.asarray(weights) < 0) or not np.any(weights)):
        raise GeneratorError(f"weights must be {len(forest)} numbers, none negative, not all zero")
    loop = _Loop(forest, config, weights, start)
    state = None if folder is None else Path(folder)
    if state is not None:
        loop.restore(state)
    with _threads(config.threads):
        while not loop.is_done:
            on_epoch(loop.epoch(), config.epochs)
            if state is not None:
                loop.keep(state)
    return loop.model(), loop.history


class _Loop:
    """The state of a training: model, optimiser, history, and the best weights so far."""

    def __init__(
        self, forest: Forest, config: TrainConfig, weights: NDArray[np.float64] | None, start: HVAE | None
    ) -> None:
        self.config, self.library = config, forest.library
        self.device = _device(config.device)
        torch.manual_seed(config.seed)
        self.net = HVAEModel(len(forest.library), config.hidden, config.latent)
        if start is not None:
            self._start_from(start)
        self.net.to(self.device)
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=config.learning_rate, fused=True)
        held = np.random.default_rng([config.seed, 0]).permutation(len(forest))
        cut = int(config.validation * len(forest)) if len(forest) > 1 else 0
        self.validation, self.training = forest.take(held[:cut]), forest.take(held[cut:])
        self.weights = None if weights is None else np.asarray(weights, dtype=np.float64)[held[cut:]]
        self.steps = math.ceil(len(self.training) / config.batch)
        self.history: list[Epoch] = []
        self.best: dict[str, torch.Tensor] | None = None

    def _start_from(self, start: HVAE) -> None:
        if (start.hidden_dim, start.latent_dim) != (self.config.hidden, self.config.latent):
            raise GeneratorError(
                f"the model to start from has hidden size {start.hidden_dim} and latent size {start.latent_dim}; "
                f"the configuration has {self.config.hidden} and {self.config.latent}"
            )
        if start.library != self.library:
            raise GeneratorError(f"the model to start from is over ({start.library}), the forest over ({self.library})")
        self.net.load_state_dict({name: torch.tensor(array) for name, array in start.weights.items()})

    @property
    def is_done(self) -> bool:
        """Whether all epochs are over, or patience is."""
        if len(self.history) >= self.config.epochs:
            return True
        since_best = len(self.history) - 1 - self._best_epoch if self.history else 0
        return self.config.patience > 0 and since_best >= self.config.patience

    @property
    def _best_epoch(self) -> int:
        losses = [record.validation for record in self.history]
        return int(np.nanargmin(losses)) if np.isfinite(losses).any() else len(losses) - 1

    def epoch(self) -> Epoch:
        """One pass over the training part."""
        number = len(self.history)
        order = np.random.default_rng([self.config.seed, 1, number]).permutation(len(self.training))
        noise = torch.Generator(self.device).manual_seed(1_000_003 * self.config.seed + number)
        totals = np.zeros(3)
        began = time.perf_counter()
        for step in range(self.steps):
            chosen = order[step * self.config.batch : (step + 1) * self.config.batch]
            totals += np.array(self._step(number * self.steps + step, chosen, noise)) * len(chosen)
        seconds = time.perf_counter() - began
        loss, reconstruction, divergence = (totals / len(self.training)).tolist()
        record = Epoch(
            number, loss, reconstruction, divergence, self._weight(number * self.steps + self.steps - 1),
            self._validate(), len(self.training) / seconds,
        )  # fmt: skip
        self.history.append(record)
        if self._best_epoch == number:
            self.best = {name: weight.detach().clone() for name, weight in self.net.state_dict().items()}
        return record

    def _step(self, iteration: int, chosen: NDArray[np.int64], noise: torch.Generator) -> tuple[float, float, float]:
        for group in self.optimiser.param_groups:
            group["lr"] = self.config.learning_rate * _rise_and_fall(iteration / (self.steps * self.config.epochs))
        weights = None if self.weights is None else torch.tensor(self.weights[chosen], device=self.device).float()
        if weights is not None and not weights.any():
            return 0.0, 0.0, 0.0
        batch = self.training.take(chosen)
        reconstruction, divergence = reconstruction_and_kl(self.net, batch, weights=weights, generator=noise)
        loss = reconstruction + self._weight(iteration) * divergence
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()
        return loss.item(), reconstruction.item(), divergence.item()

    def _weight(self, iteration: int) -> float:
        total = self.steps * self.config.epochs
        return SCHEDULES[self.config.schedule](iteration, total, self.config.divergence)

    def _validate(self) -> float:
        """Mean cross-entropy of the expressions kept aside, with the same noise each time."""
        if len(self.validation) == 0:
            return math.nan
        noise = torch.Generator(self.device).manual_seed(self.config.seed)
        with torch.no_grad():
            return reconstruction_and_kl(self.net, self.validation, generator=noise)[0].item()

    def model(self) -> HVAE:
        """The trained model, without torch."""
        weights = self.best if self.config.patience and self.best is not None else self.net.state_dict()
        return HVAE(self.library, {name: weight.detach().cpu().numpy().copy() for name, weight in weights.items()})

    # -- stopping and going on --------------------------------------------------------

    def keep(self, folder: Path) -> None:
        """Write the state, whole or not at all."""
        from safetensors.torch import save_file

        arrays = {f"weight.{name}": weight for name, weight in self.net.state_dict().items()}
        arrays |= {f"best.{name}": weight for name, weight in (self.best or {}).items()}
        for name, weight in self.net.named_parameters():
            arrays |= {f"{moment}.{name}": self.optimiser.state[weight][moment] for moment in MOMENTS}
        description = {"config": asdict(self.config), "history": [asdict(record) for record in self.history]}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            save_file({name: array.contiguous() for name, array in arrays.items()}, folder / f"{STATE_WEIGHTS}.part")
            (folder / f"{STATE}.part").write_text(json.dumps(description), encoding="utf-8")
            for name in (STATE_WEIGHTS, STATE):
                (folder / f"{name}.part").replace(folder / name)
        except OSError as error:
            raise GeneratorError(f"cannot keep the training in {folder}: {error.strerror or error}") from error

    def restore(self, folder: Path) -> None:
        """Go on from a state that was kept, if there is one."""
        if not (folder / STATE).is_file():
            return
        try:
            description = json.loads((folder / STATE).read_text(encoding="utf-8"))
            kept = TrainConfig(**description["config"])
            history = [Epoch(**record) for record in description["history"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise GeneratorError(f"{folder / STATE} is damaged ({error!r}); remove it to begin anew") from error
        if kept != self.config:
            raise GeneratorError(f"{folder} holds an unfinished training with another configuration; remove {STATE}")
        arrays = {
            name: torch.tensor(array).to(self.device) for name, array in read_weights(folder / STATE_WEIGHTS).items()
        }
        self.net.load_state_dict(_part(arrays, "weight"))
        self.best = _part(arrays, "best") or None
        steps = torch.tensor(float(len(history) * self.steps), device=self.device)
        for name, weight in self.net.named_parameters():
            moments = {moment: arrays[f"{moment}.{name}"].clone() for moment in MOMENTS}
            self.optimiser.state[weight] = {"step": steps.clone(), **moments}
        self.history = history


def _part(arrays: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{prefix}.")}


def _rise_and_fall(done: float) -> float:
    """The learning rate's share of its peak: a line up, then half a cosine down."""
    if done < WARM_UP:
        return max(done, 0.01 * WARM_UP) / WARM_UP
    return 0.5 * (1 + math.cos(math.pi * (done - WARM_UP) / (1 - WARM_UP)))


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """So many threads for torch, for a while."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _device(asked: str) -> torch.device:
    if asked == "cuda" and not torch.cuda.is_available():
        raise GeneratorError("there is no CUDA device here; use device='cpu' or 'auto'")
    return torch.device("cuda" if asked != "cpu" and torch.cuda.is_available() else "cpu")
