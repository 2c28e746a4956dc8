"""What the driver is told, by a stand-in for it: addresses arrive whole, and errors have a name."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import pytest

from hint_relic.model.rollout.cuda import driver
from hint_relic.model.rollout.cuda.call import Call
from hint_relic.model.rollout.cuda.plan import MOST_SHARED, Plan

STREAM, CONTEXT, MODULE, FUNCTION = (0x7F00_0000_1000 * i + 8 for i in range(1, 5))
STAND_IN = """
#include <string.h>
typedef unsigned long long address;
struct { address stream, pushed, popped, module, function, launched, on; unsigned numbers[7];
         int attribute, value; char image[8], name[32]; unsigned char given[64]; } seen;
int fails;
int cuStreamGetCtx(address stream, address* context) {
  seen.stream = stream; *context = CONTEXT; return 0;
}
int cuCtxPushCurrent_v2(address context) { seen.pushed = context; return 0; }
int cuCtxPopCurrent_v2(address* context) { seen.popped++; *context = CONTEXT; return 0; }
int cuModuleLoadData(address* module, const char* image) {
  memcpy(seen.image, image, 8); *module = MODULE; return 0;
}
int cuModuleGetFunction(address* function, address module, const char* name) {
  seen.module = module; strncpy(seen.name, name, 31); *function = FUNCTION; return 0;
}
int cuFuncSetAttribute(address function, int attribute, int value) {
  seen.function = function; seen.attribute = attribute; seen.value = value; return 0;
}
int cuLaunchKernel(address function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                   unsigned by, unsigned bz, unsigned shared, address stream,
                   void** given, void** more) {
  const unsigned numbers[7] = {gx, gy, gz, bx, by, bz, shared};
  memcpy(seen.numbers, numbers, sizeof numbers); memcpy(seen.given, given[0], 3 * 8 + 2 * 4);
  seen.launched = function; seen.on = stream;
  return more ? 1 : fails;
}
int cuGetErrorString(int code, const char** text) { *text = "out of patience"; return 0; }
"""


class Hopper:
    compute_capability = "9.0"


def test_kernels_are_there_where_one_compiles(monkeypatch):
    registered = []
    monkeypatch.setattr(driver.jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(driver.jax, "devices", lambda: [Hopper()])
    for name, found in (("_nvrtc", None), ("_driver", None), ("_attribute", MOST_SHARED)):
        monkeypatch.setattr(driver, name, lambda *_, found=found: found)
    monkeypatch.setattr(driver, "_architecture", lambda: "sm_90")
    monkeypatch.setattr(driver, "starts_on", lambda *given: registered.append(given[0]))
    monkeypatch.setattr(driver, "_compile", lambda sources, architecture: b"code")
    assert driver.available.__wrapped__()
    assert registered == ["CUDA"]

    def fail(sources, architecture):
        raise RuntimeError("libnvrtc-builtins.so.13.0 is missing")

    monkeypatch.setattr(driver, "_compile", fail)
    assert not driver.available.__wrapped__()
    monkeypatch.setattr(Hopper, "compute_capability", "8.0")
    assert not driver.available.__wrapped__()
    assert registered == ["CUDA"]


class Seen(ctypes.Structure):
    _fields_ = [
        *((x, ctypes.c_uint64) for x in ("stream", "pushed", "popped", "module", "function")),
        *((x, ctypes.c_uint64) for x in ("launched", "on")),
        ("numbers", ctypes.c_uint * 7),
        ("attribute", ctypes.c_int),
        ("value", ctypes.c_int),
        ("image", ctypes.c_char * 8),
        ("name", ctypes.c_char * 32),
        ("given", ctypes.c_ubyte * 64),
    ]


class Given(ctypes.Structure):
    """What a kernel reads as its argument (`Forward` and others)."""

    _fields_ = [
        ("arrays", ctypes.c_uint64 * 3),
        ("samples", ctypes.c_int),
        ("room", ctypes.c_int),
    ]


@pytest.mark.skipif(not shutil.which("cc"), reason="the stand-in for the driver needs cc")
def test_what_is_said_to_the_driver(tmp_path, monkeypatch):
    values = {"STREAM": STREAM, "CONTEXT": CONTEXT, "MODULE": MODULE, "FUNCTION": FUNCTION}
    (tmp_path / "cuda.c").write_text(STAND_IN)
    told = [f"-D{name}={value}ULL" for name, value in values.items()]
    subprocess.run(
        ["cc", "-shared", "-fPIC", *told, "cuda.c", "-o", "cuda.so"], cwd=tmp_path, check=True
    )
    library = ctypes.CDLL(str(tmp_path / "cuda.so"))
    seen = Seen.in_dll(library, "seen")
    plan = Plan((), (), True, False, 16)
    monkeypatch.setattr(driver, "_driver", lambda: library)
    monkeypatch.setattr(driver, "_architecture", lambda: "sm_90")
    monkeypatch.setattr(
        driver, "compiled", lambda plan, architecture: architecture.encode() + b"code"
    )
    monkeypatch.setattr(driver, "_loaded", {})

    arrays = [0x7FFF_1234_5000, 0x1_0000_0000, 0xFFFF_FFFF_FFFF]
    driver._prepare(plan)
    call = Call("forward", plan, 21, arrays, 48, 16, lambda: STREAM)
    driver.start(call)

    assert (seen.stream, seen.pushed, seen.popped) == (STREAM, CONTEXT, 1)
    assert (seen.image, seen.module, seen.name) == (b"sm_90cod", MODULE, b"forward")
    size = plan.shared_bytes("forward")
    assert (seen.function, seen.attribute, seen.value) == (FUNCTION, 8, size)
    assert (seen.launched, seen.on) == (FUNCTION, STREAM)
    assert list(seen.numbers) == [48, 1, 1, 512, 1, 1, size]
    given = Given.from_buffer_copy(bytes(seen.given))
    assert (list(given.arrays), given.samples, given.room) == (arrays, 16, 21)

    ctypes.c_int.in_dll(library, "fails").value = 700
    with pytest.raises(RuntimeError, match=r"^CUDA: out of patience$"):
        driver.start(call)
    assert seen.popped == 2  # nobody else finds another context
