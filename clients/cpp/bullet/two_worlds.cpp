// Two sheets fall on a ball and a floor in two worlds of Bullet: one has Bullet's own collisions, in the other Bullet
// computes dynamics only and every step goes to Interstice:
// two_worlds [ADDRESS] [--frames N] [--substeps N] [--margin METRES] [--obj FOLDER]
#include <BulletSoftBody/btSoftBodyHelpers.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <BulletSoftBody/btSoftRigidDynamicsWorld.h>
#include <btBulletDynamicsCommon.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numbers>

#include "interstice/client.hpp"

namespace {

// Lengths in metres, times in seconds, masses in kilograms.
constexpr float kDt = 1.0f / 60;
constexpr int kSide = 17, kSheets = 2;  // vertices along an edge of a sheet
constexpr float kSize = 0.8f;           // edge of a sheet: 5 cm between vertices
constexpr float kHeight = 0.56f, kGap = 0.06f;
constexpr float kRadius = 0.18f, kCentre = 0.3f;  // of the ball, and the height of its centre over the floor
constexpr int kRings = 10, kSectors = 20;
constexpr float kFloor = 2;    // half the floor's edge
constexpr float kVoxel = 0.05f;  // of Bullet's distance field of the obstacles
constexpr std::uint32_t kListedPairs = 10000;  // of a frame; far more than occur
constexpr int kSheetVertices = kSide * kSide;
constexpr std::uint32_t kDynamic = kSheets * kSheetVertices;

struct Scene {
  std::vector<float> positions;          // [3·V], the sheets first
  std::vector<std::uint32_t> triangles;  // [3·T]
  std::vector<std::uint8_t> kinematic;   // [V]
  std::uint32_t vertexCount() const { return static_cast<std::uint32_t>(positions.size() / 3); }
};

/// A sheet over the ball; the second one is rotated against the first.
void addSheet(Scene& scene, int sheet) {
  const auto first = scene.vertexCount();
  const float turn = 0.3f + 0.6f * static_cast<float>(sheet);
  for (int i = 0; i < kSheetVertices; i++) {
    const float u = kSize * (static_cast<float>(i % kSide) / (kSide - 1) - 0.5f);
    const float w = kSize * (static_cast<float>(i / kSide) / (kSide - 1) - 0.5f);
    scene.positions.insert(scene.positions.end(),
                           {u * std::cos(turn) - w * std::sin(turn) + 0.02f, kHeight + kGap * static_cast<float>(sheet),
                            u * std::sin(turn) + w * std::cos(turn)});
  }
  for (std::uint32_t i = 0; i < kSheetVertices; i++) {
    if (i % kSide == kSide - 1 || i / kSide == kSide - 1) continue;
    const auto a = first + i;
    scene.triangles.insert(scene.triangles.end(), {a, a + kSide, a + 1, a + 1, a + kSide, a + kSide + 1});
  }
}

/// Bullet gets the exact ball. The mesh has its vertices on the ball and thus lies inside, to Bullet's advantage.
void addObstacles(Scene& scene) {
  const auto top = scene.vertexCount();
  const auto add = [&](float x, float y, float z) { scene.positions.insert(scene.positions.end(), {x, y, z}); };
  add(0, kCentre + kRadius, 0);
  for (int ring = 1; ring < kRings; ring++) {
    const float polar = std::numbers::pi_v<float> * static_cast<float>(ring) / kRings;
    for (int sector = 0; sector < kSectors; sector++) {
      const float angle = 2 * std::numbers::pi_v<float> * static_cast<float>(sector) / kSectors;
      add(kRadius * std::sin(polar) * std::cos(angle), kCentre + kRadius * std::cos(polar),
          kRadius * std::sin(polar) * std::sin(angle));
    }
  }
  add(0, kCentre - kRadius, 0);
  const auto bottom = scene.vertexCount() - 1;
  const auto at = [&](int ring, int sector) {
    if (ring == 0) return top;
    return ring == kRings ? bottom : top + 1 + static_cast<std::uint32_t>((ring - 1) * kSectors + sector % kSectors);
  };
  for (int ring = 0; ring < kRings; ring++) {
    for (int s = 0; s < kSectors; s++) {
      const auto a = at(ring, s), b = at(ring, s + 1), c = at(ring + 1, s), d = at(ring + 1, s + 1);
      if (a != b) scene.triangles.insert(scene.triangles.end(), {a, b, c});
      if (c != d) scene.triangles.insert(scene.triangles.end(), {b, d, c});
    }
  }
  const auto floor = scene.vertexCount();
  for (const auto& [x, z] : {std::pair{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}) add(kFloor * x, 0, kFloor * z);
  scene.triangles.insert(scene.triangles.end(), {floor, floor + 2, floor + 1, floor, floor + 3, floor + 2});
}

Scene makeScene() {
  Scene scene;
  for (int sheet = 0; sheet < kSheets; sheet++) addSheet(scene, sheet);
  addObstacles(scene);
  scene.kinematic.assign(scene.vertexCount(), 1);
  std::fill_n(scene.kinematic.begin(), kDynamic, 0);
  return scene;
}

/// The same sheets in a world of Bullet, with or without Bullet's obstacles and collisions.
class World {
 public:
  /// @param margin Bullet's thickness of a sheet
  World(const Scene& scene, bool hasCollisions, float margin) {
    world_.setGravity({0, -9.81f, 0});
    auto& info = world_.getWorldInfo();
    info.m_dispatcher = &dispatcher_;
    info.m_broadphase = &broadphase_;
    info.m_gravity = world_.getGravity();
    info.m_sparsesdf.Initialize();
    info.m_sparsesdf.setDefaultVoxelsz(kVoxel);  // after Initialize, which sets 25 cm: coarser than the ball
    info.m_sparsesdf.Reset();
    if (hasCollisions) {
      addObstacle(ball_, {0, kCentre, 0});
      addObstacle(floor_, {0, -1, 0});
    }
    const std::vector<btScalar> vertices(scene.positions.begin(), scene.positions.end());
    const int triangles = 2 * (kSide - 1) * (kSide - 1);
    const std::vector<int> corners(scene.triangles.begin(), scene.triangles.begin() + 3 * triangles);
    for (int sheet = 0; sheet < kSheets; sheet++) {
      // Not randomised, so that every run computes the same.
      auto* body = btSoftBodyHelpers::CreateFromTriMesh(info, vertices.data() + 3 * kSheetVertices * sheet, corners.data(),
                                                        triangles, false);
      auto* material = body->m_materials[0];
      material->m_kLST = 0.9f;
      body->generateBendingConstraints(2, material);
      body->setTotalMass(0.2f);
      body->m_cfg.piterations = 10;
      body->m_cfg.kDP = 0.01f;
      body->m_cfg.kDF = 0.3f;
      body->m_cfg.kKHR = 1;  // obstacles push a node out at once, instead of a tenth per step
      body->getCollisionShape()->setMargin(margin);
      body->m_cfg.collisions = 0;
      if (hasCollisions) {
        // Nodes against rigid bodies, and vertices against faces of the other sheet. A sheet against itself would need
        // CL_SELF, which in Bullet 3.24 turns collisions between soft bodies off: its mask of cases includes the flag.
        using Collision = btSoftBody::fCollision;
        body->m_cfg.collisions = Collision::SDF_RS | Collision::VF_SS;
      }
      world_.addSoftBody(body);
      sheets_.push_back(std::unique_ptr<btSoftBody>(body));
    }
  }

  ~World() {
    for (auto& sheet : sheets_) world_.removeSoftBody(sheet.get());
    for (auto& obstacle : obstacles_) world_.removeRigidBody(obstacle.get());
  }

  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void step(int substeps) {
    for (int i = 0; i < substeps; i++) world_.stepSimulation(kDt / substeps, 0);  // 0: one step of exactly this length
    world_.getWorldInfo().m_sparsesdf.GarbageCollect();
  }

  /// Replaces the sheets' nodes of a scene, [3·V], with these.
  void read(std::vector<float>& positions) const {
    eachNode([&](const btSoftBody::Node& node, std::size_t i) {
      for (int k = 0; k < 3; k++) positions[3 * i + k] = static_cast<float>(node.m_x[k]);
    });
  }

  /// Moves the nodes to the answer, with the velocity that led there: Bullet's next step starts from it.
  void write(const std::vector<float>& before, const std::vector<float>& answer) {
    eachNode([&](btSoftBody::Node& node, std::size_t i) {
      for (int k = 0; k < 3; k++) {
        node.m_x[k] = answer[3 * i + k];
        node.m_v[k] = (answer[3 * i + k] - before[3 * i + k]) / kDt;
      }
      node.m_q = node.m_x;
    });
  }

 private:
  template <typename Visit>
  void eachNode(Visit&& visit) const {
    std::size_t vertex = 0;
    for (const auto& sheet : sheets_) {
      for (int i = 0; i < sheet->m_nodes.size(); i++) visit(sheet->m_nodes[i], vertex++);
    }
  }

  void addObstacle(btCollisionShape& shape, const btVector3& origin) {
    auto body = std::make_unique<btRigidBody>(btRigidBody::btRigidBodyConstructionInfo(0, nullptr, &shape));
    body->setWorldTransform(btTransform(btMatrix3x3::getIdentity(), origin));
    body->setFriction(0.5f);
    world_.addRigidBody(body.get());
    obstacles_.push_back(std::move(body));
  }

  btSphereShape ball_{kRadius};
  btBoxShape floor_{{kFloor, 1, kFloor}};
  btSoftBodyRigidBodyCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_{&configuration_};
  btDbvtBroadphase broadphase_;
  btSequentialImpulseConstraintSolver solver_;
  btSoftRigidDynamicsWorld world_{&dispatcher_, &broadphase_, &solver_, &configuration_};
  std::vector<std::unique_ptr<btSoftBody>> sheets_;
  std::vector<std::unique_ptr<btRigidBody>> obstacles_;
};

float distance(const std::vector<float>& p, std::uint32_t a, const std::vector<float>& q, std::uint32_t b) {
  return std::hypot(p[3 * a] - q[3 * b], p[3 * a + 1] - q[3 * b + 1], p[3 * a + 2] - q[3 * b + 2]);
}

/// The largest ratio of an edge of a sheet to its length at rest.
float largestStretch(const Scene& rest, const std::vector<float>& positions) {
  float worst = 0;
  for (std::size_t i = 0; i < rest.triangles.size(); i++) {
    const auto a = rest.triangles[i], b = rest.triangles[i % 3 == 2 ? i - 2 : i + 1];
    if (a >= kDynamic) break;
    worst = std::max(worst, distance(positions, a, positions, b) / distance(rest.positions, a, rest.positions, b));
  }
  return worst;
}

void writeObj(const std::filesystem::path& folder, const char* world, int frame, const Scene& scene,
              const std::vector<float>& positions) {
  char name[64];
  std::snprintf(name, sizeof name, "%s-%03d.obj", world, frame);
  std::ofstream file(folder / name);
  file.precision(9);  // enough for every float
  for (std::size_t i = 0; i < positions.size(); i += 3)
    file << "v " << positions[i] << ' ' << positions[i + 1] << ' ' << positions[i + 2] << '\n';
  for (std::size_t i = 0; i < scene.triangles.size(); i += 3)
    file << "f " << scene.triangles[i] + 1 << ' ' << scene.triangles[i + 1] + 1 << ' ' << scene.triangles[i + 2] + 1 << '\n';
  if (!file.flush()) throw std::runtime_error("The file cannot be written: " + (folder / name).string() + ".");
}

/// Results of the service for the frames of one world.
struct Totals {
  std::uint64_t pairs = 0, withObstacles = 0, betweenSheets = 0, withinSheets = 0;
  int framesAtFault = 0;
  float stretch = 0;
  void add(const interstice::v1::CheckResponse& found, float stretchOfFrame) {
    pairs += found.intersection_count();
    framesAtFault += !found.intersection_free();
    for (const auto& pair : found.intersections()) {
      const auto a = pair.a(0), b = pair.b(0);
      if (a >= kDynamic || b >= kDynamic) withObstacles++;
      else if (a / kSheetVertices == b / kSheetVertices) withinSheets++;
      else betweenSheets++;
    }
    stretch = std::max(stretch, stretchOfFrame);
  }
};

struct Settings {
  std::string address = "grpc://127.0.0.1:50051";
  int frames = 60;
  int substeps = 1;      // of Bullet alone
  float margin = 0.02f;  // of Bullet alone
  std::filesystem::path folder{};
};

int simulate(const Settings& settings) {
  const auto& [address, frames, substeps, margin, folder] = settings;
  const auto scene = makeScene();
  const auto mesh = interstice::meshOf(scene.vertexCount(), scene.triangles, scene.kinematic);
  World own(scene, true, margin), guarded(scene, false, margin);
  const interstice::Client client(address);
  auto session = client.session(mesh, scene.positions);
  auto x = scene.positions, bullet = scene.positions;
  Totals ofBullet, ofInterstice;
  interstice::Seconds stepping{0};
  std::printf("%u vertices, %zu triangles, %d frames of 1/60 s\n", scene.vertexCount(), scene.triangles.size() / 3, frames);
  std::printf("       | Bullet alone    | Bullet with Interstice\n");
  std::printf(" frame | pairs | stretch | pairs | stretch | to wanted, rms and max, mm | steps\n");
  for (int frame = 1; frame <= frames; frame++) {
    guarded.step(1);
    auto wanted = x;  // obstacles stay
    guarded.read(wanted);
    interstice::StepOptions options;
    options.onProgress = [&](const auto& progress) {
      if (progress.steps() >= 100)
        std::cerr << "frame " << frame << ": " << progress.steps() << " steps so far, " << progress.unfinished_vertices()
                  << " vertices to go\n";
    };
    const auto since = interstice::Clock::now();
    auto answer = session.stepAsync(wanted, options);
    own.step(substeps);  // while the service computes
    own.read(bullet);
    const auto result = answer.get();
    stepping += interstice::Clock::now() - since;
    guarded.write(x, result.positions);
    x = result.positions;

    interstice::v1::CheckRequest question;
    question.set_max_pairs(kListedPairs);
    const auto found = session.check(question);
    *question.mutable_positions() = interstice::positionsOf(std::span<const float>(bullet));
    const auto foundInBullet = session.check(question);
    ofBullet.add(foundInBullet, largestStretch(scene, bullet));
    ofInterstice.add(found, largestStretch(scene, x));
    if (!folder.empty()) {
      writeObj(folder, "bullet", frame, scene, bullet);
      writeObj(folder, "interstice", frame, scene, x);
    }
    if (frame % 5 != 0) continue;
    double squares = 0;
    float farthest = 0;
    for (std::uint32_t i = 0; i < kDynamic; i++) {
      const float d = distance(x, i, wanted, i);
      squares += static_cast<double>(d) * d;
      farthest = std::max(farthest, d);
    }
    std::printf("%6d |%6llu | %7.3f |%6llu | %7.3f | %12.2f %13.2f | %5u\n", frame,
                static_cast<unsigned long long>(foundInBullet.intersection_count()), largestStretch(scene, bullet),
                static_cast<unsigned long long>(found.intersection_count()), largestStretch(scene, x), 1000 * std::sqrt(squares / kDynamic),
                1000 * farthest, result.report().steps());
    std::fflush(stdout);
  }
  const auto total = [&](const char* name, const Totals& of) {
    std::printf("%s: %d of %d frames intersect, largest stretch %.3f, %llu pairs in all", name, of.framesAtFault, frames,
                of.stretch, static_cast<unsigned long long>(of.pairs));
    if (of.pairs > 0)
      std::printf(" (%llu with obstacles, %llu between the sheets, %llu within one)",
                  static_cast<unsigned long long>(of.withObstacles), static_cast<unsigned long long>(of.betweenSheets),
                  static_cast<unsigned long long>(of.withinSheets));
    std::printf("\n");
  };
  total("Bullet alone", ofBullet);
  total("Bullet with Interstice", ofInterstice);
  std::printf("%.0f ms a frame between target and answer\n", 1000 * stepping.count() / frames);
  return session.close() && ofInterstice.framesAtFault == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  Settings settings;
  for (int i = 1; i < count; i++) {
    const std::string word = words[i];
    const bool isOption = word.starts_with("--");
    if (isOption && i + 1 < count && word == "--frames") settings.frames = std::atoi(words[++i]);
    else if (isOption && i + 1 < count && word == "--substeps") settings.substeps = std::atoi(words[++i]);
    else if (isOption && i + 1 < count && word == "--margin") settings.margin = std::strtof(words[++i], nullptr);
    else if (isOption && i + 1 < count && word == "--obj") settings.folder = words[++i];
    else if (!isOption) settings.address = word;
    else settings.frames = 0;
  }
  if (settings.frames < 1 || settings.substeps < 1 || !(settings.margin > 0)) {
    std::cerr << "two_worlds [ADDRESS] [--frames N] [--substeps N] [--margin METRES] [--obj FOLDER]; numbers are positive\n";
    return 2;
  }
  try {
    if (!settings.folder.empty()) std::filesystem::create_directories(settings.folder);
    return simulate(settings);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
