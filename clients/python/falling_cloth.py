"""A cloth of springs falls on a ball that rises: python3 falling_cloth.py grpc://127.0.0.1:50051 [--stream]"""

import sys

import numpy as np

from interstice import Client, Mesh

N, SIZE, RADIUS, FRAMES, SUBSTEPS, DT = 21, 1.0, 0.25, 60, 20, 1 / 60
RINGS, SECTORS = 8, 12

grid = np.arange(N * N).reshape(N, N)
a, b, c, d = grid[:-1, :-1].ravel(), grid[:-1, 1:].ravel(), grid[1:, :-1].ravel(), grid[1:, 1:].ravel()
line = np.linspace(-SIZE / 2, SIZE / 2, N)
cloth = np.stack([np.tile(line, N), np.full(N * N, 0.3), np.repeat(line, N)], 1)
pairs = [(grid[:, :-1], grid[:, 1:]), (grid[:-1], grid[1:]), (a, d), (b, c)]
i, j = (np.concatenate([pair[side].ravel() for pair in pairs]) for side in (0, 1))
rest = np.linalg.norm(cloth[i] - cloth[j], axis=1)

# The ball is open at its poles.
up, around = np.ix_(np.linspace(0.05, 0.95, RINGS + 1) * np.pi, np.arange(SECTORS) * 2 * np.pi / SECTORS)
wide, height = RADIUS * np.sin(up), RADIUS * np.cos(up)
ball = np.stack(np.broadcast_arrays(wide * np.cos(around), height, wide * np.sin(around)), -1).reshape(-1, 3)
ring = N * N + np.arange(len(ball)).reshape(RINGS + 1, SECTORS)
e, f, g, h = ring[:-1], np.roll(ring[:-1], -1, 1), ring[1:], np.roll(ring[1:], -1, 1)
quads = [[a, c, b], [b, c, d], [e, f, g], [f, h, g]]
triangles = np.concatenate([np.stack([side.ravel() for side in quad], 1) for quad in quads])

x = np.concatenate([cloth, ball]).astype(np.float32)
mesh = Mesh(triangles=triangles, kinematic=np.arange(len(x)) >= N * N)
v = np.zeros_like(cloth)
step = DT / SUBSTEPS
client = Client(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080")
with client.session(mesh, x, stream="--stream" in sys.argv) as session:
    for frame in range(1, FRAMES + 1):
        y = x[: N * N].astype(float)
        for _ in range(SUBSTEPS):
            apart = y[j] - y[i]
            push = step * 2e4 * (1 - rest / np.linalg.norm(apart, axis=1))[:, None] * apart
            np.add.at(v, i, push)
            np.subtract.at(v, j, push)
            v = v * 0.995 - [0, 9.81 * step, 0]
            y = y + step * v
        rise = [0, 0.1 * np.sin(np.pi * frame / FRAMES), 0]
        result = session.step(np.concatenate([y, ball + rise]).astype(np.float32))
        v = (result.positions[: N * N] - x[: N * N]) / DT
        x = result.positions
        if frame % 10 == 0:
            report = result.report
            print(f"frame {frame} {report['status']} {report['pairs']['activeContacts']} contacts, "
                  f"rms {report['distanceToTargetRms']:.2g}, {report['overlongEdges']} overlong edges", flush=True)
    assert session.check()["intersectionFree"], "the last state is free"
    assert (np.linalg.norm(x[: N * N], axis=1) > 0.9 * RADIUS).all(), "nothing passed through the ball"
    print(f"{FRAMES} frames, session recreated {session.recreations} times")
