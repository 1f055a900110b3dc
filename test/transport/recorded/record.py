"""Records what google.protobuf's json_format does with the cases below, as json-format.json beside this file.

Needs protoc and the protobuf package (recorded with 4.21); the tests need neither, they read what was recorded.

    python3 record.py
"""

import importlib
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROTO = HERE.parents[2] / "proto"

# Message and JSON text. Taken or refused, and how it comes back, is the oracle's to say.
CASES = [
    ("StepRequest", '{"sessionId": "a", "frame": "18446744073709551615"}'),
    ("StepRequest", '{"session_id": "a", "frame": 5}'),
    ("StepRequest", '{"frame": 9007199254740991}'),
    ("StepRequest", '{"frame": 0}'),
    ("StepRequest", '{"frame": "1e3"}'),
    ("StepRequest", '{"frame": 1e3}'),
    ("StepRequest", '{"frame": 1.5}'),
    ("StepRequest", '{"frame": -1}'),
    ("StepRequest", '{"frame": "18446744073709551616"}'),
    ("StepRequest", '{"frame": true}'),
    ("StepRequest", '{"frame": null, "target": null, "partTargets": null}'),
    ("StepRequest", '{"partTargets": [{"part": "sleeve"}, {}]}'),
    ("StepRequest", '{"partTargets": [null]}'),
    ("StepRequest", '{"partTargets": {}}'),
    ("StepRequest", '{"kinematic": "AAE="}'),
    ("StepRequest", '{"kinematic": "AAE"}'),
    ("StepRequest", '{"kinematic": "-_8="}'),
    ("StepRequest", '{"kinematic": "+/8="}'),
    ("StepRequest", '{"kinematic": "*"}'),
    ("StepRequest", '{"sessionid": "a"}'),
    ("StepRequest", '{"sessionId": 5}'),
    ("StepRequest", '{"sessionId": "caf\\u00e9 \\ud83d\\ude00"}'),
    ("StepRequest", '{"priority": "BATCH"}'),
    ("StepRequest", '{"priority": 3}'),
    ("StepRequest", '{"priority": "batch"}'),
    ("StepRequest", '{"priority": "PRIORITY_UNSPECIFIED"}'),
    ("StepRequest", '{"include": {"contacts": true, "contactDistance": 0}}'),
    ("StepRequest", '{"include": {"contacts": "true"}}'),
    ("StepRequest", '{"include": {"contacts": 1}}'),
    ("StepRequest", '{"timeBudget": "1.5s"}'),
    ("StepRequest", '{"timeBudget": "-0.000000001s"}'),
    ("StepRequest", '{"timeBudget": "-3.250s"}'),
    ("StepRequest", '{"timeBudget": "0s"}'),
    ("StepRequest", '{"timeBudget": "315576000000s"}'),
    ("StepRequest", '{"timeBudget": "315576000001s"}'),
    ("StepRequest", '{"timeBudget": "1"}'),
    ("StepRequest", '{"timeBudget": 1}'),
    ("StepRequest", '{"override": {"leap": 0, "damping": 0.1, "reach": 1e-300, "stepLimit": 4294967295}}'),
    ("StepRequest", '{"override": {"stepLimit": 4294967296}}'),
    ("StepRequest", '{"override": {"stepLimit": "7"}}'),
    ("StepRequest", '{"override": {"stepLimit": -1}}'),
    ("StepRequest", '{"override": {"reach": "0.5"}}'),
    ("StepRequest", '{"override": {"reach": "1.5e3"}}'),
    ("StepRequest", '{"override": {"reach": "x"}}'),
    ("StepRequest", '{"override": []}'),
    ("CheckRequest", '{"sessionId": "a"}'),
    ("CheckRequest", '{"mesh": {}}'),
    ("CheckRequest", '{"mesh": {}, "sessionId": "a"}'),
    ("CheckRequest", '{"mesh": {"vertexCount": 3, "triangles": "AAAAAAEAAAACAAAA"}, "maxPairs": 0}'),
    ("UpdateSessionRequest", '{"sessionId": "a", "label": ""}'),
    ("UpdateSessionRequest", '{"sessionId": "a"}'),
    ("Session", '{"id": "a", "created": "2026-11-21T09:00:00.250Z", "lastUsed": "1969-12-31T23:59:59.999999999Z"}'),
    ("Session", '{"created": "2026-11-21T10:00:00+01:00"}'),
    ("Session", '{"created": "2026-11-21"}'),
    ("Session", '{"created": "2026-02-30T00:00:00Z"}'),
    ("Session", '{"residency": "PARKED", "deviceBytes": "4294967296", "idleTimeout": "900s"}'),
    ("MeshSummary", '{"bounds": [0, -0.0, 0.1, 1e21, 1e-7, 123456789.123], "medianEdge": 5e-324}'),
    ("Pair", '{"kind": "EDGE_EDGE", "a": [0, 4294967295], "b": [], "distance": 0}'),
    ("Pair", '{"a": [1, "2"]}'),
    ("Pair", '{"a": [1.0]}'),
    ("Pair", '{"a": [1, null]}'),
    ("Error", '{"code": "X", "retryAfter": "1s", "pairCount": "3", "element": {"index": "12"}}'),
    ("ListSessionsResponse", "{}"),
    ("Report", '{"status": "DEADLINE", "timings": {}, "verification": {"fellBack": true}}'),
    ("Positions", "[]"),
    ("Positions", "null"),
]


def record(module, json_format, name, text):
    message = getattr(module, name)()
    try:
        json_format.Parse(text, message)
    except (json_format.ParseError, TypeError, ValueError) as error:
        return {"message": name, "json": text, "refused": type(error).__name__}
    again = json_format.MessageToDict(message, including_default_value_fields=True)
    return {"message": name, "json": text, "bytes": message.SerializeToString(deterministic=True).hex(), "again": again}


def main():
    from google.protobuf import __version__, json_format

    with tempfile.TemporaryDirectory() as folder:
        source = PROTO / "interstice" / "v1" / "collision.proto"
        subprocess.run(["protoc", f"--proto_path={PROTO}", f"--python_out={folder}", str(source)], check=True)
        sys.path.insert(0, folder)
        module = importlib.import_module("interstice.v1.collision_pb2")
    cases = [record(module, json_format, name, text) for name, text in CASES]
    path = HERE / "json-format.json"
    head = {"recordedWith": f"google.protobuf {__version__}, json_format"}
    path.write_text(json.dumps({**head, "cases": cases}, indent=1) + "\n", encoding="utf-8")
    print(f"{len(cases)} cases, {sum('refused' in case for case in cases)} refused", file=sys.stderr)


main()
