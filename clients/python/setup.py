"""The hook that generates the gRPC stubs; everything else is in pyproject.toml."""

import pathlib
import shutil
import sys

from setuptools import setup
from setuptools.command.build_py import build_py

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import generate  # noqa: E402


class BuildWithStubs(build_py):
    def run(self):
        super().run()
        if shutil.which("protoc") and shutil.which("grpc_python_plugin"):
            generate.generate(pathlib.Path(self.build_lib))
        else:
            print("protoc or grpc_python_plugin is missing: grpc:// will not work, http:// will.", file=sys.stderr)


setup(cmdclass={"build_py": BuildWithStubs})
