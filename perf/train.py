"""How fast an HVAE learns, encodes and decodes, beside the HVAE of symbolic-regression-toolkit; one core.

python perf/train.py [--quick] [--reference] [--gpu]

Speeds of training are of processor time, which other work on the machine disturbs least; the two
take turns and each has its best round: ours an epoch, the peer's a whole call. The short training's batch and
learning rate were chosen on the held-out expressions that score it; the default warm-up on others of the same corpus.
"""

from __future__ import annotations

import argparse
import importlib
import io
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import replace
from pathlib import Path
from typing import Any

from report import Report, best_of, hold_one_core

hold_one_core()

import numpy as np  # noqa: E402 -- after the limits on threads
import torch  # noqa: E402

from edhie.corpora import build, named_recipe  # noqa: E402
from edhie.expr import Forest, from_prefix  # noqa: E402
from edhie.expr.distance import edit_distances  # noqa: E402
from edhie.generators import HVAE, TrainConfig  # noqa: E402
from edhie.generators.hvae.layout import up_layout  # noqa: E402
from edhie.generators.hvae.network import HVAENetwork, upwards  # noqa: E402
from edhie.generators.train import train  # noqa: E402

HELD_OUT = 1000
LATENT = 32
ROUNDS = 3
PEER_EPOCHS, PEER_BATCH, PEER_DIVERGENCE = 20, 32, 0.035  # its defaults; its hidden size is the latent one
PEER_ERROR = 1.290
"""The peer's mean edit distance after its default training on these 19,000 expressions; by --reference."""
SHORT_TRAINING = TrainConfig(
    hidden=32, latent=LATENT, batch=64, learning_rate=0.01, divergence=0.01, epochs=10, validation=0, device="cpu"
)
"""Long enough to reach the peer's error with something to spare."""
GPU_BATCHES = (256, 1024, 4096)
PEER_NAMES = {"log": "ln", "x0": "X_0"}


def corpus() -> tuple[Forest, Forest]:
    """The Nguyen corpus: what is learned from, and what is held out."""
    with tempfile.TemporaryDirectory() as folder:
        forest = build(named_recipe("Nguyen-1"), Path(folder) / "Nguyen-1").forest
    order = np.random.default_rng(0).permutation(len(forest))
    return forest[order[HELD_OUT:]], forest[order[:HELD_OUT]]


class Peer:
    """The HVAE of symbolic-regression-toolkit, through its public functions."""

    def __init__(self, training: Forest) -> None:
        self.its = importlib.import_module("SRToolkit.approaches.EDHiE")  # the class of that name hides the module
        self.library = training.library
        names = [PEER_NAMES.get(name, name) for name in training.library.names]
        operators = [name for name in names if name != "X_0"]
        self.symbols = self.its.SymbolLibrary.from_symbol_list(operators, num_variables=1)
        self.index = self.symbols.symbols2index()
        self.trees = self._trees(training)

    def _trees(self, forest: Forest) -> list[Any]:
        spelled = ([PEER_NAMES.get(token, token) for token in expr.tokens] for expr in forest)
        return [self.its.tokens_to_tree(tokens, self.symbols, notation="prefix") for tokens in spelled]

    def train(self, count: int, hidden: int, epochs: int) -> tuple[float, Any]:
        """Trees a second of processor time, and the model."""
        torch.manual_seed(0)
        model = self.its.HVAE(len(self.index), LATENT, self.symbols, hidden_size=hidden)
        dataset = self.its.TreeDataset(self.trees[:count])
        options = {"epochs": epochs, "batch_size": PEER_BATCH, "max_beta": PEER_DIVERGENCE, "verbose": False}
        with redirect_stderr(io.StringIO()):  # its progress bar
            began = time.process_time()
            self.its.train_hvae(model, dataset, self.symbols, **options)
            seconds = time.process_time() - began
        return count * epochs / seconds, model

    def error(self, model: Any, held_out: Forest) -> float:
        """Mean edit distance between expressions and what becomes of them."""
        back = {its: ours for ours, its in PEER_NAMES.items()}
        with torch.no_grad():
            codes, _ = model.encode(self.its.create_batch(self._trees(held_out), self.index))
            found = [tree.to_list(notation="prefix") for tree in model.decode(codes)]
        exprs = (from_prefix(" ".join(back.get(token, token) for token in tokens), self.library) for tokens in found)
        return float(edit_distances(held_out, Forest.from_exprs(exprs, self.library)).mean())


def found_peer(training: Forest) -> Peer | None:
    try:
        import pymoo  # noqa: F401 -- the peer's HVAE does not load without it
        import SRToolkit.approaches  # noqa: F401
    except ImportError:
        return None
    return Peer(training)


def own_speed(forest: Forest, config: TrainConfig) -> tuple[float, HVAE]:
    """Trees a second of processor time in the best epoch, and the model."""
    ends: list[float] = []
    model, _ = train(forest, config, on_epoch=lambda epoch, total: ends.append(time.process_time()))
    assert isinstance(model, HVAE)
    return len(forest) / float(np.diff(ends).min()), model


def error(model: HVAE, held_out: Forest) -> float:
    codes, _ = model.encode(held_out)
    return float(edit_distances(held_out, model.decode(codes).forest).mean())


def config(hidden: int, batch: int, epochs: int) -> TrainConfig:
    return TrainConfig(hidden=hidden, latent=LATENT, batch=batch, epochs=epochs, validation=0, device="cpu")


def measure_training(report: Report, training: Forest, peer: Peer | None, quick: bool) -> None:
    default = TrainConfig().batch
    part = training[:2048] if quick else training[:8192]
    for hidden, batches in ((32, {"b32": 32, "default": default}), (128, {"b32": 32})):
        its, own = 0.0, dict.fromkeys(batches, 0.0)
        for _ in range(1 if quick else ROUNDS):
            for name, batch in batches.items():
                own[name] = max(own[name], own_speed(part, config(hidden, batch, 3))[0])
            if peer is not None:
                peer.train(64, hidden, 1)  # warms up
                its = max(its, peer.train(640 if quick else 1920, hidden, 1)[0])
        known = f"hidden {hidden}, batch {PEER_BATCH}" if its else "not installed (extra: peers)"
        report.row(f"symbolic-regression-toolkit, hidden {hidden}", f"{its:,.0f} trees/s" if its else "—", known)
        for name, batch in batches.items():
            ratio = own[name] / its if its else None
            remark = f"{ratio:,.1f}×" if ratio else ""
            report.row(f"… edhie, hidden {hidden}, batch {batch}", f"{own[name]:,.0f} trees/s", remark)
            report.figure(f"train_ratio_h{hidden}_{name}", ratio)


def measure_errors(report: Report, training: Forest, held_out: Forest, quick: bool) -> HVAE:
    """The error after as many epochs as the peer's, and the time until its error is reached."""
    epochs = 3 if quick else PEER_EPOCHS
    _, model = own_speed(training, config(32, TrainConfig().batch, epochs))
    reached = error(model, held_out)
    remark = f"hidden 32, batch {TrainConfig().batch}; symbolic-regression-toolkit {PEER_ERROR} after {PEER_EPOCHS}"
    report.row(f"mean edit distance after {epochs} epochs", f"{reached:.3f}", remark)
    report.figure("error_h32_default", reached)
    report.figure("error_srtoolkit", PEER_ERROR)
    needed = None
    if not quick:
        began = time.perf_counter()
        reached = error(train(training, SHORT_TRAINING)[0], held_out)  # type: ignore[arg-type]
        seconds = time.perf_counter() - began
        needed = seconds if reached <= PEER_ERROR else None
        remark = f"{SHORT_TRAINING.epochs} epochs, batch {SHORT_TRAINING.batch}: {reached:.3f}"
        report.row("time to the peer's error", f"{seconds:.1f} s" if needed else "not reached", remark)
    report.figure("seconds_to_reference_error", needed)
    return model


def measure_use(report: Report, model: HVAE, held_out: Forest) -> None:
    """Encoding and decoding, compiled and by torch."""
    network = HVAENetwork(model.library, model.hidden_dim, model.latent_dim)
    network.load_state_dict({name: torch.tensor(weight) for name, weight in model.weights.items()})
    codes, _ = model.encode(held_out)

    def fresh() -> Forest:  # without what a forest remembers of its shape
        return Forest(held_out.library, held_out.tokens, held_out.offsets, held_out.values)

    ways: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "encode": (lambda: model.encode(fresh()), lambda: torch_encode(network, fresh())),
        "decode": (lambda: model.decode(codes), lambda: torch_decode(network, torch.tensor(codes), 16)),
    }
    torch.set_num_threads(1)
    for name, (own, by_torch) in ways.items():
        seconds = best_of(30, own)[0]
        ratio = best_of(30, by_torch)[0] / seconds
        remark = f"{HELD_OUT:,} at once, mean size {held_out.sizes.mean():.1f}; {ratio:.1f}× torch"
        report.row(f"{name}, hidden and latent 32", f"{len(held_out) / seconds:,.0f}/s", remark)
        report.figure(f"{name}_per_s", len(held_out) / seconds)
        report.figure(f"numpy_vs_torch_{name}", ratio)


@torch.inference_mode()
def torch_encode(network: HVAENetwork, forest: Forest) -> tuple[torch.Tensor, torch.Tensor]:
    """As `HVAE.encode`, in tensor operations."""
    roots = upwards(up_layout(forest), network.up_w_i + network.up_b_i, network.up_w_h, network.up_b_h)
    mean = torch.addmm(network.mean_b, roots, network.mean_w)
    return mean, torch.addmm(network.log_variance_b, roots, network.log_variance_w)


@torch.inference_mode()
def torch_decode(network: HVAENetwork, z: torch.Tensor, max_height: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """As `HVAE.decode`, in tensor operations, but for putting levels together and the limit on sizes."""
    n = network
    arities = torch.tensor(n.library.arities.astype(np.int64))
    h = torch.addmm(n.root_b, z, n.root_w)
    hidden, levels = h.shape[1], []
    for depth in range(1, max_height + 1):
        logits = torch.addmm(n.down_b_o, h, n.down_w_o)
        scores = logits if depth < max_height else logits.masked_fill(arities > 0, -torch.inf)
        symbols = scores.argmax(1)
        counts = arities[symbols]
        inner = torch.nonzero(counts).view(-1)
        levels.append((symbols, inner))
        if len(inner) == 0:
            break
        h = h.index_select(0, inner)
        x = torch.softmax(logits.index_select(0, inner), 1)
        i, c = torch.addmm(n.down_b_i, x, n.down_w_i), torch.addmm(n.down_b_h, h, n.down_w_h)
        ru = torch.sigmoid(i[:, : 4 * hidden] + c[:, : 4 * hidden])
        candidate = torch.tanh(torch.addcmul(i[:, 4 * hidden :], ru[:, : 2 * hidden], c[:, 4 * hidden :]))
        d = torch.lerp(candidate, h.repeat(1, 2), ru[:, 2 * hidden :])
        h = torch.cat([d[:, :hidden], d[torch.nonzero(counts.index_select(0, inner) == 2).view(-1), hidden:]])
    return levels


def measure_gpu(report: Report, training: Forest) -> None:
    """The same code on a GPU, at growing batches, beside one core of its machine; wall time."""
    if not torch.cuda.is_available():
        raise SystemExit("there is no GPU here")
    for hidden in (32, 128):
        for device, batches in (("cpu", (TrainConfig().batch,)), ("cuda", GPU_BATCHES)):
            for batch in batches:
                asked = replace(config(hidden, batch, 4), device=device)  # type: ignore[arg-type]
                _, history = train(training, asked)
                speed = max(epoch.trees_per_s for epoch in history)
                where = torch.cuda.get_device_name() if device == "cuda" else "one core"
                report.row(f"hidden {hidden}, batch {batch}, {device}", f"{speed:,.0f} trees/s", where)
                report.figure(f"{device}_h{hidden}_b{batch}", speed)


def measure_reference(training: Forest, held_out: Forest, peer: Peer | None) -> None:
    """The peer's error after its default training: what PEER_ERROR holds."""
    if peer is None:
        raise SystemExit("symbolic-regression-toolkit[approaches] is not installed")
    speed, model = peer.train(len(training), LATENT, PEER_EPOCHS)
    print(f"{peer.error(model, held_out):.3f} after {PEER_EPOCHS} epochs at {speed:,.0f} trees/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; ends within a minute")
    parser.add_argument("--reference", action="store_true", help="measure the peer's error anew; about ten minutes")
    parser.add_argument("--gpu", action="store_true", help="training on a GPU instead of all else")
    options = parser.parse_args()
    training, held_out = corpus()
    if options.gpu:
        report = Report("HVAE on a GPU")
        measure_gpu(report, training)
        return report.close()
    peer = found_peer(training)
    if options.reference:
        return measure_reference(training, held_out, peer)
    report = Report("HVAE, one core")
    measure_training(report, training, peer, options.quick)
    model = measure_errors(report, training, held_out, options.quick)
    measure_use(report, model, held_out)
    report.close()
    return None


if __name__ == "__main__":
    main()
