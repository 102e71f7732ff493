"""What holds for all tests."""

from hypothesis import settings

# a first call may compile, and machines that test are often busy
settings.register_profile("edhie", deadline=None)
settings.register_profile("thorough", deadline=None, max_examples=3000)  # pytest --hypothesis-profile=thorough
settings.load_profile("edhie")
