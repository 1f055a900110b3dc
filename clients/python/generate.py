"""Generates the gRPC stubs from the contract: `python3 generate.py [FOLDER]`; default: this folder, where git ignores them.

Needs protoc and grpc_python_plugin (Debian: protobuf-compiler, protobuf-compiler-grpc).
"""

import pathlib
import re
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
    command += [f"--plugin=protoc-gen-grpc={plugin}", f"--python_out={folder}", f"--pyi_out={folder}",
                f"--grpc_out={folder}", CONTRACT]
    subprocess.run(command, check=True)
    (folder / CONTRACT).with_name("collision_pb2_grpc.pyi").write_text(service_types())


def service_types() -> str:
    """Types of the stub and the servicer, which the gRPC plugin does not write: one attribute for each `rpc` line."""
    text = (HERE.parent.parent / "proto" / CONTRACT).read_text()
    calls = re.findall(r"^\s*rpc (\w+)\((stream )?(\w+)\) returns \((stream )?(\w+)\)", text, re.MULTILINE)
    if len(calls) != len(re.findall(r"^\s*rpc ", text, re.MULTILINE)):
        raise SystemExit("An rpc line of the contract has an unexpected form. See service_types.")
    kinds = {"": "Unary", "stream ": "Stream"}
    lines = ["import typing", "", "import grpc", "", "from . import collision_pb2 as pb", "", "class CollisionServiceStub:",
             "    def __init__(self, channel: grpc.Channel) -> None: ..."]
    for name, is_in, request, is_out, answer in calls:
        lines.append(f"    {name}: grpc.{kinds[is_in]}{kinds[is_out]}MultiCallable  # pb.{request}, pb.{answer}")
    lines += ["", "class CollisionServiceServicer:"]
    for name, is_in, request, is_out, answer in calls:
        of = (f"typing.Iterator[pb.{request}]" if is_in else f"pb.{request}",
              f"typing.Iterator[pb.{answer}]" if is_out else f"pb.{answer}")
        lines.append(f"    def {name}(self, request: {of[0]}, context: grpc.ServicerContext) -> {of[1]}: ...")
    lines += ["", "def add_CollisionServiceServicer_to_server(servicer: CollisionServiceServicer, server: grpc.Server) -> None: ...",
              ""]
    return "\n".join(lines)


if __name__ == "__main__":
    generate(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
