// A cloth of springs falls on a pyramid that rises: falling_cloth 127.0.0.1:50051 [--stream]
#include <cmath>
#include <iostream>
#include "interstice/client.hpp"

constexpr int N = 21, FRAMES = 60, SUBSTEPS = 20, CLOTH = N * N, ALL = CLOTH + 5;
constexpr float SIZE = 1, HEIGHT = 0.25, DT = 1.0f / 60, H = DT / SUBSTEPS;
struct Spring { unsigned a, b; float rest; };
float distance(const std::vector<float>& p, unsigned a, unsigned b) {
  return std::hypot(p[3 * b] - p[3 * a], p[3 * b + 1] - p[3 * a + 1], p[3 * b + 2] - p[3 * a + 2]);
}

int main(int count, char** words) {
  std::vector<float> x, v(3 * CLOTH);
  std::vector<Spring> springs;
  std::vector<unsigned> triangles;
  const auto at = [](int i) { return SIZE * i / (N - 1) - SIZE / 2; };
  for (int i = 0; i < CLOTH; i++) x.insert(x.end(), {at(i % N), 0.3f, at(i / N)});
  x.insert(x.end(), {-HEIGHT, 0, -HEIGHT, HEIGHT, 0, -HEIGHT, HEIGHT, 0, HEIGHT, -HEIGHT, 0, HEIGHT, 0, HEIGHT, 0});
  for (unsigned k = 0; k < 4; k++) triangles.insert(triangles.end(), {CLOTH + k, CLOTH + (k + 1) % 4, CLOTH + 4});
  const auto tie = [&](unsigned a, unsigned b) { springs.push_back({a, b, distance(x, a, b)}); };
  for (unsigned i = 0; i < CLOTH; i++) {
    const bool hasRight = i % N < N - 1, hasBelow = i / N < N - 1;
    if (hasRight) tie(i, i + 1);
    if (hasBelow) tie(i, i + N);
    if (!hasRight || !hasBelow) continue;
    tie(i, i + N + 1), tie(i + 1, i + N);
    triangles.insert(triangles.end(), {i, i + N, i + 1, i + 1, i + N, i + N + 1});
  }
  std::vector<std::uint8_t> kinematic(ALL);
  std::fill(kinematic.begin() + CLOTH, kinematic.end(), 1);
  const auto mesh = interstice::meshOf(ALL, triangles, kinematic);
  const interstice::Client client(count > 1 ? words[1] : "127.0.0.1:50051");
  auto session = client.session(mesh, x, {.isStreaming = count > 2});
  const auto start = x;
  for (int frame = 1; frame <= FRAMES; frame++) {
    auto y = x;
    for (int s = 0; s < SUBSTEPS; s++) {
      for (const auto& [a, b, rest] : springs) {
        const float push = H * 2e4f * (1 - rest / distance(y, a, b));
        for (int k = 0; k < 3; k++) v[3 * a + k] += push * (y[3 * b + k] - y[3 * a + k]);
        for (int k = 0; k < 3; k++) v[3 * b + k] += push * (y[3 * a + k] - y[3 * b + k]);
      }
      for (int i = 0; i < 3 * CLOTH; i++) y[i] += H * (v[i] = v[i] * 0.995f - (i % 3 == 1 ? 9.81f * H : 0));
    }
    const float rise = 0.1f * std::sin(3.14159f * frame / FRAMES);
    for (int i = 3 * CLOTH + 1; i < 3 * ALL; i += 3) y[i] = start[i] + rise;
    const auto result = session.step(y);
    for (int i = 0; i < 3 * CLOTH; i++) v[i] = (result.positions[i] - x[i]) / DT;
    x = result.positions;
    if (frame % 10 == 0) std::cout << "frame " << frame << ' ' << Status_Name(result.report().status()) << std::endl;
  }
  bool isFree = session.check().intersection_free();
  for (int i = 0; i < 3 * CLOTH; i += 3)
    isFree &= x[i + 1] < 0 || std::max(std::abs(x[i]), std::abs(x[i + 2])) + x[i + 1] > 0.9f * HEIGHT;
  std::cout << FRAMES << " frames, session recreated " << session.recreations() << " times" << std::endl;
  return session.close() && isFree ? 0 : 1;
}
