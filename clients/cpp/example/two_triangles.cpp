// A triangle whose target lies beyond another one stops above that one: two_triangles grpc://127.0.0.1:50051
#include <interstice/client.hpp>
#include <iostream>

int main(int count, char** words) {
  const std::vector<float> start{0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, 0.1, 1.2, 0.2, 0.1, 0.2, 1.2, 0.1};
  const std::vector<std::uint32_t> triangles{0, 1, 2, 3, 4, 5};
  const auto mesh = interstice::meshOf(6, triangles, {1, 1, 1, 0, 0, 0});

  auto target = start;
  for (int i = 11; i < 18; i += 3) target[i] = -0.1;

  const interstice::Client client(count > 1 ? words[1] : "grpc://127.0.0.1:50051");
  auto session = client.session(mesh, start);
  interstice::StepOptions options;
  options.onProgress = [](const auto& progress) { std::cout << progress.steps() << " steps so far\n"; };
  auto future = session.stepAsync(target, options);  // returns at once
  const auto result = future.get();
  std::cout << Status_Name(result.report().status()) << ", height " << result.positions[11] << "\n";
  return result.positions[11] > 0 ? 0 : 1;
}
