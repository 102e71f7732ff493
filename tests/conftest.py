"""What holds for all tests."""

import signal
import threading
from contextlib import suppress

from hypothesis import settings

from edhie.expr.jit import _build_folder

# a first call may compile, and machines that test are often busy
settings.register_profile("edhie", deadline=None, max_examples=40)
settings.register_profile("thorough", deadline=None, max_examples=3000)  # pytest --hypothesis-profile=thorough
settings.load_profile("edhie")

with suppress(OSError):  # so that no command under test tells of a first compilation
    _build_folder().mkdir(parents=True, exist_ok=True)

# a parent such as nohup may ignore Ctrl-C, and children inherit that; those that tests stop must hear it
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
