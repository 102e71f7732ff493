"""The one training loop; it needs torch, the extra `train`.

Every random choice of an epoch follows from the seed and the epoch's number, so a training that
was stopped goes on, and ends as if it had not been.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edhie.errors import GeneratorError, MissingExtraError
from edhie.expr import Forest
from edhie.generators.base import Model
from edhie.generators.checkpoint import STATE, claim, digests, read_description, write_state
from edhie.generators.config import TrainConfig
from edhie.generators.example_weights import check_weights, in_single_precision
from edhie.generators.folder import read_arrays
from edhie.generators.schedules import SCHEDULES
from edhie.generators.split import split
from edhie.grammar import PCFG

try:
    import torch
    from torch import Tensor

    from edhie.generators.network import Network, weighted_mean
    from edhie.generators.networks import fresh, going_on_from
    from edhie.generators.runtime import device_of, learning, seeded, threads, within_range
except ImportError as error:
    raise MissingExtraError("training a model", "train") from error

MOMENTS = ("exp_avg", "exp_avg_sq")
AT_ONCE = 4096  # expressions kept aside that are measured together; it bounds the memory


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
    start: Model | None = None,
    grammar: PCFG | None = None,
    folder: str | Path | None = None,
    on_epoch: Watcher = lambda epoch, total: None,
) -> tuple[Model, list[Epoch]]:
    """Train the configuration's model on a forest; the model, and one record an epoch.

    `weights` make some expressions count more; `start` is a model to go on from (fine-tuning).
    A gvae takes a `grammar` of its own choice if there is none, one that derives all of a library.
    With a `folder`, the state is kept there after each epoch, a training found there goes on, and
    Ctrl-C loses at most the epoch under way. With `patience` the best epoch's weights are returned.
    """
    if len(forest) == 0:
        raise GeneratorError("there is nothing to learn from: the forest is empty")
    if weights is not None:
        weights = np.asarray(weights, dtype=np.float64)
        check_weights(weights, len(forest))
    state = None if folder is None else Path(folder)
    inputs = digests(forest, weights, None if start is None else start.weights, grammar)
    with threads(config.threads), learning():
        with seeded(config.seed):
            network = fresh(forest, config, grammar) if start is None else going_on_from(start, forest, config)
        loop = _Loop(network, forest, config, weights)
        if state is not None:
            claim(state)
            loop.restore(state, inputs)
        while not loop.is_done:
            on_epoch(loop.epoch(), config.epochs)
            if state is not None:
                loop.keep(state, inputs)
        return loop.model(), loop.history


class _Loop:
    """The state of a training: model, optimiser, history, and the best weights so far."""

    def __init__(
        self, network: Network, forest: Forest, config: TrainConfig, weights: NDArray[np.float64] | None
    ) -> None:
        self.config = config
        self.device = device_of(config.device)
        self.net = network.to(self.device)
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=config.learning_rate, fused=True)
        held_out, learnt = split(len(forest), config)
        examples = network.prepare(forest)
        self.validation, self.training = examples.take(held_out), examples.take(learnt)
        self.weights = None if weights is None else in_single_precision(weights[learnt])
        if config.patience and len(self.validation) == 0:
            raise GeneratorError("patience looks at expressions kept aside, and there are none; raise `validation`")
        self.steps = math.ceil(len(self.training) / config.batch)
        self.history: list[Epoch] = []
        self.best: dict[str, torch.Tensor] | None = None

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
        noise = torch.Generator(self.device).manual_seed(within_range(1_000_003 * int(self.config.seed) + number))
        totals = torch.zeros(3, device=self.device)  # read once an epoch: a GPU does not wait for each step
        began = time.perf_counter()
        for step in range(self.steps):
            chosen = order[step * self.config.batch : (step + 1) * self.config.batch]
            totals += len(chosen) * self._step(number * self.steps + step, chosen, noise)
        loss, reconstruction, divergence = (totals / len(self.training)).tolist()
        self._check_numbers(loss)
        seconds = time.perf_counter() - began
        record = Epoch(
            number, loss, reconstruction, divergence, self._weight(number * self.steps + self.steps - 1),
            self._validate(), len(self.training) / seconds,
        )  # fmt: skip
        self.history.append(record)
        if self._best_epoch == number:
            self.best = {name: weight.detach().clone() for name, weight in self.net.state_dict().items()}
        return record

    def _check_numbers(self, loss: float) -> None:
        """Raise where an epoch's loss, or what was learnt in it, is no number."""
        finite = torch.stack([weight.isfinite().all() for weight in self.net.parameters()]).all()
        if not (math.isfinite(loss) and finite):
            what = "the weights are no numbers" if math.isfinite(loss) else f"the loss is {loss}"
            raise GeneratorError(
                f"the training failed in epoch {len(self.history) + 1} of {self.config.epochs}: {what}; "
                f"lower learning_rate, which is {self.config.learning_rate:g}"
            )

    def _step(self, iteration: int, chosen: NDArray[np.int64], noise: torch.Generator) -> Tensor:
        """One batch; its loss, reconstruction error and divergence."""
        for group in self.optimiser.param_groups:
            group["lr"] = self._learning_rate(iteration)
        weights = None if self.weights is None else torch.tensor(self.weights[chosen], device=self.device)
        if weights is not None and not weights.any():
            return torch.zeros(3, device=self.device)
        errors, divergences = self.net.losses(self.training.take(chosen), noise)
        reconstruction = weighted_mean(errors, weights)
        divergence = weighted_mean(divergences.sum(1), weights)
        charged = divergence if self.config.free_bits == 0 else self._beyond_free(divergences, weights)
        loss = reconstruction + self._weight(iteration) * charged
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()
        return torch.stack((loss, reconstruction, divergence)).detach()

    def _beyond_free(self, divergences: Tensor, weights: Tensor | None) -> Tensor:
        """What of the divergence is paid for: by dimension, the batch's mean above the free bits."""
        by_dimension = divergences.mean(0) if weights is None else weights @ divergences / weights.sum()
        return torch.clamp(by_dimension - self.config.free_bits, min=0).sum()

    def _learning_rate(self, iteration: int) -> float:
        """A line up to the peak, then half a cosine down to zero."""
        done, rise = iteration / (self.steps * self.config.epochs), self.config.warm_up
        if done < rise:
            return self.config.learning_rate * max(done / rise, 0.01)
        return self.config.learning_rate * 0.5 * (1 + math.cos(math.pi * (done - rise) / (1 - rise)))

    def _weight(self, iteration: int) -> float:
        total = self.steps * self.config.epochs
        return SCHEDULES[self.config.schedule](iteration, total, self.config.divergence)

    def _validate(self) -> float:
        """Mean cross-entropy of the expressions kept aside, with the same noise each time."""
        if len(self.validation) == 0:
            return math.nan
        noise = torch.Generator(self.device).manual_seed(within_range(self.config.seed))
        places = np.arange(len(self.validation))
        parts = [places[s : s + AT_ONCE] for s in range(0, len(places), AT_ONCE)]
        with torch.no_grad():
            errors = [self.net.losses(self.validation.take(part), noise)[0] for part in parts]
        return torch.cat(errors).mean().item()

    def model(self) -> Model:
        """The trained model, without torch."""
        weights = self.best if self.config.patience and self.best is not None else self.net.state_dict()
        return self.net.trained({name: weight.detach().cpu().numpy().copy() for name, weight in weights.items()})

    # -- stopping and going on --------------------------------------------------------

    def keep(self, folder: Path, inputs: dict[str, str]) -> None:
        """Write the state, whole or not at all."""
        arrays = {f"weight.{name}": weight for name, weight in self.net.state_dict().items()}
        arrays |= {f"best.{name}": weight for name, weight in (self.best or {}).items()}
        for name, weight in self.net.named_parameters():
            state = self.optimiser.state[weight]
            arrays |= {f"{moment}.{name}": state[moment] for moment in MOMENTS}
            arrays["steps"] = state["step"]  # the same for all; fewer than batches, where all of one weigh nothing
        history = [asdict(record) for record in self.history]
        description = {"config": asdict(self.config), "inputs": inputs, "history": history}
        write_state(folder, description, {name: array.cpu().contiguous().numpy() for name, array in arrays.items()})

    def restore(self, folder: Path, inputs: dict[str, str]) -> None:
        """Go on from a state that was kept, if there is one."""
        description = read_description(folder)
        if description is None:
            return
        try:
            kept, kept_inputs = TrainConfig(**description["config"]), dict(description["inputs"])
            history = [Epoch(**record) for record in description["history"]]
        except (KeyError, TypeError, GeneratorError) as error:
            raise GeneratorError(f"{folder / STATE} is damaged ({error!r}); remove it to begin anew") from error
        changed = [name for name in {**inputs, **kept_inputs} if inputs.get(name) != kept_inputs.get(name)]
        changed += ["configuration"] if _learnt(kept) != _learnt(self.config) else []
        if changed:
            raise GeneratorError(
                f"{folder} holds an unfinished training with another {' and '.join(changed)}; "
                f"choose another folder, or remove {folder / STATE} to begin anew"
            )
        kept_arrays, _ = read_arrays(folder / STATE)
        try:
            self._take({name: torch.tensor(array).to(self.device) for name, array in kept_arrays.items()}, len(history))
        except (KeyError, RuntimeError) as error:
            raise GeneratorError(f"{folder / STATE} is damaged ({error!r}); remove it to begin anew") from error
        self.history = history

    def _take(self, arrays: dict[str, Tensor], epochs: int) -> None:
        """Weights, moments and the number of steps from a state, which older ones have not."""
        steps = arrays.get("steps", torch.tensor(float(epochs * self.steps), device=self.device))
        self.net.load_state_dict(_part(arrays, "weight"))
        self.best = _part(arrays, "best") or None
        for name, weight in self.net.named_parameters():
            moments = {moment: arrays[f"{moment}.{name}"].clone() for moment in MOMENTS}
            self.optimiser.state[weight] = {"step": steps.clone(), **moments}


def _learnt(config: TrainConfig) -> TrainConfig:
    """What of a configuration decides what is learnt: not where, nor with how many threads."""
    return replace(config, device=TrainConfig.device, threads=TrainConfig.threads)


def _part(arrays: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{prefix}.")}
