"""Generates the gRPC stubs from the contract: `python3 generate.py [FOLDER]`; default: this folder, where git ignores them.

Needs protoc and grpc_python_plugin (Debian: protobuf-compiler, protobuf-compiler-grpc).
"""

import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CONTRACT = "interstice/v1/collision.proto"


def generate(folder: pathlib.Path) -> None:
    protoc, plugin = shutil.which("protoc"), shutil.which("grpc_python_plugin")
    if protoc is None or plugin is None:
        raise SystemExit("protoc and grpc_python_plugin are required (Debian: protobuf-compiler-grpc).")
    folder.mkdir(parents=True, exist_ok=True)
    command = [protoc, "--experimental_allow_proto3_optional", f"--proto_path={HERE.parent.parent / 'proto'}"]
    command += [f"--plugin=protoc-gen-grpc={plugin}", f"--python_out={folder}", f"--grpc_out={folder}", CONTRACT]
    subprocess.run(command, check=True)


if __name__ == "__main__":
    generate(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
