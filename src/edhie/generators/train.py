"""The training loop of all models; needs torch, the extra `train`.

Every random choice of an epoch follows from the seed and the epoch's number, so a training that was stopped and
resumed ends with the same weights.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edhie.errors import GeneratorError, MissingExtraError
from edhie.expr import Forest
from edhie.generators.base import Model
from edhie.generators.config import SCHEDULES, TrainConfig, held_out_and_learnt
from edhie.generators.saving import STATE, TRAINING, Epoch, digests, read_state, write_state
from edhie.grammar import PCFG

try:
    import torch
    from torch import Tensor

    from edhie.generators.network import Network, fresh_network, network_like
except ImportError as error:
    raise MissingExtraError("training a model", "train") from error

MOMENTS = ("exp_avg", "exp_avg_sq")
AT_ONCE = 4096  # held-out expressions that are measured together; it bounds the memory
MOST_SEED = 2**63  # of torch


def train(
    forest: Forest,
    config: TrainConfig = TrainConfig(),  # noqa: B008 -- frozen
    *,
    weights: NDArray[np.float64] | None = None,
    start: Model | None = None,
    grammar: PCFG | None = None,
    folder: str | Path | None = None,
    on_epoch: Callable[[Epoch, int], None] = lambda epoch, total: None,
) -> tuple[Model, list[Epoch]]:
    """Train the configuration's model on a forest; return the model, and one record an epoch.

    `weights` make some expressions count more; `start` is a model to fine-tune. A gvae without a `grammar` gets one
    that derives all of the library. With a `folder`, the state is kept there after each epoch, and a training found
    there resumes: Ctrl-C loses at most the epoch under way. With `patience` the best epoch's weights are returned.
    """
    if len(forest) == 0:
        raise GeneratorError("there is nothing to learn from: the forest is empty")
    n = len(forest)
    if weights is not None:
        weights = np.asarray(weights, dtype=np.float64)
        if weights.shape != (n,) or not np.isfinite(weights).all() or np.any(weights < 0) or not np.any(weights):
            raise GeneratorError(f"weights must be {n} numbers, all finite, none negative, not all zero")
    inputs = digests(forest, weights, None if start is None else start.weights, grammar)
    with _learning(config.threads):
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(int(config.seed) % MOST_SEED)
            network = fresh_network(forest, config, grammar) if start is None else network_like(start, forest, config)
        loop = _Loop(network, forest, config, weights)
        if folder is not None:
            loop.restore(Path(folder), inputs)
        while not loop.is_done:
            on_epoch(loop.epoch(), config.epochs)
            if folder is not None:
                loop.keep(Path(folder), inputs)
        return loop.model(), loop.history


def trained_with(config: TrainConfig) -> str:
    """Return the version of torch and the device of a configuration, as text."""
    return f"torch {torch.__version__} on {torch.cuda.get_device_name() if _device(config).type == 'cuda' else 'CPU'}"


def _device(config: TrainConfig) -> torch.device:
    if config.device == "cuda" and not torch.cuda.is_available():
        raise GeneratorError("there is no CUDA device here; use device='cpu' or 'auto'")
    return torch.device("cuda" if config.device != "cpu" and torch.cuda.is_available() else "cpu")


@contextmanager
def _learning(threads: int) -> Iterator[None]:
    """Let torch use so many threads and compute gradients, whatever mode the caller is in."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_num_threads(before)


class _Loop:
    """The state of a training: model, optimiser, history, and the best weights so far."""

    def __init__(
        self, network: Network, forest: Forest, config: TrainConfig, weights: NDArray[np.float64] | None
    ) -> None:
        self.config, self.device = config, _device(config)
        self.net = network.to(self.device)
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=config.learning_rate, fused=True)
        held_out, learnt = held_out_and_learnt(len(forest), config)
        examples = network.prepare(forest)
        self.validation, self.training = examples[held_out], examples[learnt]
        self.weights = None if weights is None else self._scaled(weights[learnt])
        if config.patience and len(self.validation) == 0:
            raise GeneratorError("patience needs held-out expressions, and there are none; raise `validation`")
        self.steps = math.ceil(len(self.training) / config.batch)
        self.history: list[Epoch] = []
        self.best: dict[str, Tensor] | None = None

    def _scaled(self, weights: NDArray[np.float64]) -> Tensor:
        """Return the weights of the examples in single precision; only ratios matter, which powers of two keep."""
        if not weights.any():
            raise GeneratorError("all expressions with a weight above 0 were held out; lower `validation`")
        single = np.ldexp(weights, -int(np.frexp(weights.max())[1])).astype(np.float32)
        return torch.tensor(single, device=self.device)

    @property
    def is_done(self) -> bool:
        """True if all epochs are over, or patience is."""
        if len(self.history) >= self.config.epochs:
            return True
        since_best = len(self.history) - 1 - self._best_epoch if self.history else 0
        return self.config.patience > 0 and since_best >= self.config.patience

    @property
    def _best_epoch(self) -> int:
        losses = [record.validation for record in self.history]
        return int(np.nanargmin(losses)) if np.isfinite(losses).any() else len(losses) - 1

    def epoch(self) -> Epoch:
        """Do one pass over the training part."""
        number = len(self.history)
        order = np.random.default_rng([self.config.seed, 1, number]).permutation(len(self.training))
        noise = self._noise(1_000_003 * int(self.config.seed) + number)
        totals = torch.zeros(3, device=self.device)  # read once an epoch: a GPU does not wait for each step
        began = time.perf_counter()
        for step in range(self.steps):
            chosen = order[step * self.config.batch : (step + 1) * self.config.batch]
            totals += len(chosen) * self._step(number * self.steps + step, chosen, noise)
        loss, reconstruction, divergence = (totals / len(self.training)).tolist()
        self._check_finite(loss)
        speed = len(self.training) / (time.perf_counter() - began)
        weight = self._weight(number * self.steps + self.steps - 1)
        record = Epoch(number, loss, reconstruction, divergence, weight, self._validate(), speed)
        self.history.append(record)
        if self._best_epoch == number:
            self.best = {name: weight.detach().clone() for name, weight in self.net.state_dict().items()}
        return record

    def _noise(self, seed: int) -> torch.Generator:
        return torch.Generator(self.device).manual_seed(seed % MOST_SEED)

    def _check_finite(self, loss: float) -> None:
        finite = torch.stack([weight.isfinite().all() for weight in self.net.parameters()]).all()
        if not (math.isfinite(loss) and finite):
            what = "the weights are no numbers" if math.isfinite(loss) else f"the loss is {loss}"
            raise GeneratorError(
                f"the training failed in epoch {len(self.history) + 1} of {self.config.epochs}: {what}; "
                f"lower learning_rate, which is {self.config.learning_rate:g}"
            )

    def _step(self, iteration: int, chosen: NDArray[np.int64], noise: torch.Generator) -> Tensor:
        """Learn from one batch; return its loss, reconstruction error and divergence."""
        for group in self.optimiser.param_groups:
            group["lr"] = self._learning_rate(iteration)
        weights = None if self.weights is None else self.weights[torch.from_numpy(chosen).to(self.device)]
        if weights is not None and not weights.any():
            return torch.zeros(3, device=self.device)
        errors, divergences = self.net.losses(self.training[chosen], noise)
        reconstruction, divergence = _mean(errors, weights), _mean(divergences.sum(1), weights)
        charged = divergence
        if self.config.free_bits > 0:  # by dimension, the batch's mean above the free bits
            by_dimension = divergences.mean(0) if weights is None else weights @ divergences / weights.sum()
            charged = torch.clamp(by_dimension - self.config.free_bits, min=0).sum()
        loss = reconstruction + self._weight(iteration) * charged
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()
        return torch.stack((loss, reconstruction, divergence)).detach()

    def _learning_rate(self, iteration: int) -> float:
        """Return the rate of an iteration: a line up to the peak, then half a cosine down to zero."""
        done, rise = iteration / (self.steps * self.config.epochs), self.config.warm_up
        if done < rise:
            return self.config.learning_rate * max(done / rise, 0.01)
        return self.config.learning_rate * 0.5 * (1 + math.cos(math.pi * (done - rise) / (1 - rise)))

    def _weight(self, iteration: int) -> float:
        return SCHEDULES[self.config.schedule](iteration, self.steps * self.config.epochs, self.config.divergence)

    def _validate(self) -> float:
        """Return the mean cross-entropy of held-out expressions, with the same noise each time."""
        if len(self.validation) == 0:
            return math.nan
        noise, places = self._noise(int(self.config.seed)), np.arange(len(self.validation))
        parts = [places[s : s + AT_ONCE] for s in range(0, len(places), AT_ONCE)]
        with torch.no_grad():
            errors = [self.net.losses(self.validation[part], noise)[0] for part in parts]
        return torch.cat(errors).mean().item()

    def model(self) -> Model:
        """Return the trained model, which needs no torch."""
        weights = self.best if self.config.patience and self.best is not None else self.net.state_dict()
        return self.net.trained({name: weight.detach().cpu().numpy().copy() for name, weight in weights.items()})

    def keep(self, folder: Path, inputs: dict[str, str]) -> None:
        """Write a checkpoint."""
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
        """Resume from a checkpoint, if there is one."""
        state = read_state(folder)
        if state is None:
            return
        with TRAINING.reading(folder / STATE):
            kept, kept_inputs = TrainConfig(**state[0]["config"]), dict(state[0]["inputs"])
            history = [Epoch(**record) for record in state[0]["history"]]
        changed = [name for name in {**inputs, **kept_inputs} if inputs.get(name) != kept_inputs.get(name)]
        changed += ["configuration"] if _decisive(kept) != _decisive(self.config) else []
        if changed:
            raise GeneratorError(
                f"{folder} holds an unfinished training with another {' and '.join(changed)}; "
                f"choose another folder, or delete {folder / STATE} to start anew"
            )
        with TRAINING.reading(folder / STATE):
            arrays = {name: torch.tensor(array).to(self.device) for name, array in state[1].items()}
            self.net.load_state_dict(_part(arrays, "weight"))
            self.best = _part(arrays, "best") or None
            for name, weight in self.net.named_parameters():
                moments = {moment: arrays[f"{moment}.{name}"].clone() for moment in MOMENTS}
                self.optimiser.state[weight] = {"step": arrays["steps"].clone(), **moments}
        self.history = history


def _mean(values: Tensor, weights: Tensor | None) -> Tensor:
    return values.mean() if weights is None else (values * weights).sum() / weights.sum()


def _decisive(config: TrainConfig) -> TrainConfig:
    """Return the configuration without device, threads and backend, which do not change the result."""
    return replace(config, device=TrainConfig.device, threads=TrainConfig.threads, backend=TrainConfig.backend)


def _part(arrays: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{prefix}.")}
