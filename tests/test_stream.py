"""The training stream: batch k is a function of k, and making batches ahead has its bounds."""

from __future__ import annotations

import threading
import time
from itertools import islice

import numpy as np
import pytest

from hint_relic.algorithms import ALGORITHMS
from hint_relic.data import TRAIN_SIZES, Protocol, Stream
from hint_relic.data.shape import with_steps
from hint_relic.errors import UserError
from hint_relic.spec import Kind, Stage, of_stage
from hint_relic.types import Batch

NAMES = ("bfs", "insertion_sort", "kmp_matcher")  # a graph, a permutation, one size only
STREAM_THREADS = "stream"


def flat(batch: Batch) -> dict[str, np.ndarray]:
    named = {
        f"{stage}/{k}": v
        for stage in ("inputs", "hints", "outputs")
        for k, v in getattr(batch, stage).items()
    }
    return {**named, "lengths": batch.lengths, "nodes": batch.nodes}


def assert_equal(a: Batch, b: Batch) -> None:
    ours, theirs = flat(a), flat(b)
    assert list(ours) == list(theirs)
    for key in ours:
        assert ours[key].dtype == theirs[key].dtype, key
        assert np.array_equal(ours[key], theirs[key]), key


def batches(name: str, count: int, **settings) -> list[Batch]:
    settings = {"batch_size": 4, "seeds": [5, 6], **settings}
    with Stream(Protocol.training(name), **settings) as stream:
        return list(islice(stream, count))


def stream_threads() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name.startswith(STREAM_THREADS)]


# --- batch k ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_batches_do_not_depend_on_threads_or_on_how_far_ahead_they_are_made(name):
    one = batches(name, 12, threads=1, ahead=1)
    for threads, ahead in ((2, 2), (4, 16)):
        for a, b in zip(one, batches(name, 12, threads=threads, ahead=ahead), strict=True):
            assert_equal(a, b)


@pytest.mark.parametrize("name", NAMES)
def test_a_stream_can_start_anywhere(name):
    whole = batches(name, 11)
    for start in (1, 7):
        for a, b in zip(whole[start:], batches(name, 11 - start, start=start), strict=True):
            assert_equal(a, b)


@pytest.mark.parametrize("name", NAMES)
def test_batch_k_made_alone_is_the_stream_s(name):
    with Stream(Protocol.training(name), batch_size=4, seeds=[5, 6]) as stream:
        for k in (10, 3):
            assert_equal(stream.batch(k), batches(name, k + 1)[k])


@pytest.mark.parametrize("name", NAMES)
def test_several_seeds_are_each_seed_s_own_batches(name):
    """A leading axis for the seeds; what stands in a row does not depend on the others."""
    together = batches(name, 6, seeds=[5, 6, 7])
    for row, seed in enumerate([5, 6, 7]):
        for a, b in zip(together, batches(name, 6, seeds=[seed]), strict=True):
            whole, alone = flat(a), flat(b)
            for key in whole:
                assert np.array_equal(whole[key][row], alone[key][0]), key


@pytest.mark.parametrize("name", NAMES)
def test_batches_are_fresh(name):
    """No sample comes twice: not in a batch, nor in later ones of its size, nor of another seed."""
    seen: dict[int, list[np.ndarray]] = {}
    for batch in batches(name, 20, batch_size=16):
        nodes = int(batch.nodes[0, 0])
        seen.setdefault(nodes, []).extend(batch.inputs["pos"].reshape(-1, nodes))
    for rows in seen.values():
        assert len(np.unique(np.stack(rows), axis=0)) == len(rows)


# --- shapes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_shapes_are_fixed_for_each_size_and_sizes_take_turns(name):
    protocol = Protocol.training(name)
    sizes = protocol.sizes()
    made = batches(name, 3 * len(sizes))
    for k, batch in enumerate(made):
        size = sizes[k % len(sizes)]
        nodes = protocol.algorithm.nodes(size)
        assert (batch.nodes == nodes).all()
        for key, array in flat(batch).items():
            assert array.shape[:2] == (2, 4), key
            assert array.shape == flat(made[k % len(sizes)])[key].shape, key
        for key, hint in batch.hints.items():
            assert hint.shape == (2, 4, protocol.steps(size), *protocol.spec[key].shape(nodes))
        assert (batch.lengths <= protocol.steps(size)).all()


def test_string_matchers_train_on_one_larger_size():
    assert Protocol.training("kmp_matcher").sizes() == (max(TRAIN_SIZES) * 5 // 4,)
    assert Protocol.training("bfs").sizes() == TRAIN_SIZES


@pytest.mark.parametrize("name", ALGORITHMS)
def test_training_batches_have_the_rewritten_spec(name):
    """Names and kinds after the rewrites, and numbers in single precision."""
    protocol = Protocol.training(name)
    batch = protocol.draw(protocol.sizes()[-1], 2, seeds=[1])
    for stage, arrays in (
        (Stage.INPUT, batch.inputs),
        (Stage.HINT, batch.hints),
        (Stage.OUTPUT, batch.outputs),
    ):
        fields = of_stage(protocol.spec, stage)
        assert fields.keys() == arrays.keys()
        for key, field in fields.items():
            scalar = field.kind is Kind.SCALAR
            assert arrays[key].dtype == (np.float32 if scalar else field.dtype), key
            assert field.kind is not Kind.SHOULD_BE_PERMUTATION
    kept = Protocol.training(name, keep_static_hints=True)
    assert {*protocol.algorithm.static_hints} <= of_stage(kept.spec, Stage.HINT).keys()


@pytest.mark.parametrize(("name", "scale"), [("bfs", 1.0), ("mst_kruskal", 0.5)])
def test_training_edge_probabilities(name, scale):
    """0.1 to 0.9; half of that where denser graphs would make very long traces."""
    assert np.allclose(Protocol.training(name).p, scale * np.linspace(0.1, 0.9, 9))


# --- samples longer than their room ----------------------------------------------------------


@pytest.mark.parametrize("name", ["dfs", "quicksort", "kmp_matcher"])
def test_a_survey_that_fell_short_makes_batches_longer_not_different(name, monkeypatch):
    whole = batches(name, 6)
    monkeypatch.setattr(Protocol, "steps", lambda self, size: 2)
    for enough, short in zip(whole, batches(name, 6), strict=True):
        longest = int(short.lengths.max())
        assert longest > 2, "nothing is tested unless samples are longer than their room"
        for key in enough.hints:
            a, b = short.hints[key], enough.hints[key]
            assert a.shape[2] >= longest
            both = min(a.shape[2], b.shape[2])
            assert np.array_equal(a[:, :, :both], b[:, :, :both]), key
            assert not a[:, :, both:].any(), key
        assert_equal(enough._replace(hints={}), short._replace(hints={}))


@pytest.mark.parametrize(
    ("room", "longest", "want"), [(16, 9, 16), (16, 16, 16), (16, 17, 18), (16, 21, 22), (3, 5, 5)]
)
def test_rooms_grow_by_eighths(room, longest, want):
    hint = np.arange(2 * 32).reshape(2, 32)
    batch = Batch({}, {"h": hint[:, :longest]}, {}, np.array([1, longest]), np.array([4, 4]))
    fitted = with_steps(batch, room).hints["h"]
    assert fitted.shape == (2, want)
    assert np.array_equal(fitted[:, :longest], hint[:, :longest])
    assert not fitted[:, longest:].any()


def test_room_to_spare_is_cut():
    batch = Batch({}, {"h": np.ones((1, 64))}, {}, np.array([5]), np.array([4]))
    assert with_steps(batch, 16).hints["h"].shape == (1, 16)


# --- threads and memory ----------------------------------------------------------------------


def test_close_stops_the_threads():
    assert not stream_threads()
    stream = Stream(Protocol.training("bfs"), threads=3)
    next(iter(stream))
    assert stream_threads()
    stream.close()
    assert not stream_threads()
    stream.close()  # once more does no harm


def test_leaving_the_block_stops_the_threads_even_after_an_error():
    def training():
        with Stream(Protocol.training("bfs")) as stream:
            next(iter(stream))
            raise KeyError

    with pytest.raises(KeyError):
        training()
    assert not stream_threads()


@pytest.mark.parametrize(("threads", "ahead"), [(1, 1), (2, 4), (4, 2)])
def test_no_more_batches_wait_than_allowed(threads, ahead, monkeypatch):
    """A consumer that does not come back finds the makers idle, `ahead` batches later."""
    made: list[int] = []
    original = Stream.batch

    def counted(self, k):
        batch = original(self, k)
        made.append(k)
        return batch

    monkeypatch.setattr(Stream, "batch", counted)
    with Stream(Protocol.training("bfs"), threads=threads, ahead=ahead) as stream:
        consumer = iter(stream)
        for taken in range(1, 5):
            next(consumer)
            idle_since = time.monotonic()
            count = len(made)
            while time.monotonic() - idle_since < 0.1:
                time.sleep(0.01)
                if len(made) != count:
                    count, idle_since = len(made), time.monotonic()
            assert taken <= count <= taken + max(threads, ahead)
    assert sorted(made) == list(range(len(made)))


def test_a_failure_in_a_thread_reaches_the_consumer(monkeypatch):
    def fails(self, *_, **__):
        raise MemoryError("no room")

    monkeypatch.setattr(Protocol, "draw", fails)
    with (
        Stream(Protocol.training("bfs")) as stream,
        pytest.raises(MemoryError, match="no room"),
    ):
        next(iter(stream))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sizes": ()}, "size"),
        ({"sizes": (1,)}, "at least 2"),
        ({"batch_size": 0}, "samples"),
        ({"seeds": [-1]}, "seed"),
        ({"seeds": []}, "seed"),
    ],
)
def test_what_cannot_be_drawn_is_refused_at_once(settings, message):
    with pytest.raises(UserError, match=message):
        Stream(Protocol.training("bfs"), **settings)
    assert not stream_threads()


@pytest.mark.parametrize("size", [4, 12, 13])
def test_a_needle_that_does_not_fit_is_refused(size):
    """The training needle is up to 8 long and must leave itself a place in the haystack."""
    with pytest.raises(UserError, match="needle"):
        Stream(Protocol.training("kmp_matcher"), sizes=(size,))


def test_no_threads_are_refused():
    with pytest.raises(UserError, match="thread"):
        Stream(Protocol.training("bfs"), threads=0)
