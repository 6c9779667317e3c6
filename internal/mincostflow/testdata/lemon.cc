// Solves jobs on systems with LEMON and prints the CPU seconds that it took, for
// lemon_test.go. Reads from standard input 32-bit integers: jobs, systems, the
// maximum flow, each system's capacity, then each job's row of costs, of which the
// highest 32-bit integer is a missing pair. LEMON is told the maximum flow, so that
// it need not look for it. The arguments name the algorithms.
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include <lemon/cost_scaling.h>
#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

namespace {

using Graph = lemon::SmartDigraph;
using Costs = Graph::ArcMap<int>;

double cpu() {
  rusage u;
  getrusage(RUSAGE_SELF, &u);
  return u.ru_utime.tv_sec + u.ru_stime.tv_sec + 1e-6 * (u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

std::vector<int32_t> read(size_t count) {
  std::vector<int32_t> numbers(count);
  if (fread(numbers.data(), sizeof(int32_t), count, stdin) != count) {
    fprintf(stderr, "the problem is cut off\n");
    exit(1);
  }
  return numbers;
}

struct Problem {
  int jobs, systems, flow;
  std::vector<int32_t> capacity, costs;
};

// solve builds the graph and solves it once, and prints both times.
template <typename Algorithm>
void solve(const char* name, const Problem& p) {
  double start = cpu();
  Graph graph;
  graph.reserveNode(p.jobs + p.systems + 2);
  graph.reserveArc(static_cast<int>(p.costs.size()) + p.jobs + p.systems);
  auto source = graph.addNode(), sink = graph.addNode();
  std::vector<Graph::Node> system(p.systems);
  Costs cost(graph), capacity(graph);
  for (int s = 0; s < p.systems; s++) {
    system[s] = graph.addNode();
    auto arc = graph.addArc(system[s], sink);
    capacity[arc] = p.capacity[s];
    cost[arc] = 0;
  }
  for (int j = 0; j < p.jobs; j++) {
    auto job = graph.addNode();
    auto arc = graph.addArc(source, job);
    capacity[arc] = 1;
    cost[arc] = 0;
    for (int s = 0; s < p.systems; s++) {
      int32_t c = p.costs[static_cast<size_t>(j) * p.systems + s];
      if (c == INT32_MAX) continue;
      auto pair = graph.addArc(job, system[s]);
      capacity[pair] = 1;
      cost[pair] = c;
    }
  }
  Algorithm algorithm(graph);
  algorithm.upperMap(capacity).costMap(cost).stSupply(source, sink, p.flow);
  double built = cpu();
  bool optimal = algorithm.run() == Algorithm::OPTIMAL;
  double done = cpu();
  if (!optimal) {
    fprintf(stderr, "%s found no flow\n", name);
    exit(1);
  }
  printf("%s %lld %.6f %.6f\n", name, static_cast<long long>(algorithm.template totalCost<long long>()), done - built, done - start);
}

}  // namespace

int main(int argc, char** argv) {
  auto head = read(3);
  Problem p{head[0], head[1], head[2], {}, {}};
  p.capacity = read(p.systems);
  p.costs = read(static_cast<size_t>(p.jobs) * p.systems);
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "NetworkSimplex")) solve<lemon::NetworkSimplex<Graph, int, long long>>(argv[i], p);
    if (!strcmp(argv[i], "CostScaling")) solve<lemon::CostScaling<Graph, int, long long>>(argv[i], p);
  }
}
