// Machines that SimGrid simulates: three of Faraj and Yuan (2005), and others of today. The variable MACHINE names one:
//
//   switch       16 nodes on one Ethernet switch of 100 Mb/s: topology (a) of figure 4
//   star, chain  32 nodes on four Ethernet switches of 100 Mb/s. In a star, three switches are connected to the first one;
//                in a chain, each switch to the next
//   tree         64 nodes, 8 on each leaf switch, 4:1 oversubscribed, 100 Gb/s
//   flat         64 nodes on one switch, otherwise as in tree
//   fat          64 nodes, 16 on each leaf switch, 2:1 oversubscribed, otherwise as in tree: machine A of the recorded data
//   sockets      32 nodes of two sockets, 8 on each leaf switch, otherwise as in tree; each of the 64 hosts is a socket
//
// If NOISE is set, the latency and the processor's time of each message are multiplied by lognormal numbers of this
// width. On Ethernet each further flow on a link takes 5 % of the link's bandwidth away, up to 45 %, unless FLUID is set.
#include <algorithm>
#include <cstdlib>
#include <cmath>
#include <map>
#include <random>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <string>
#include <vector>

namespace s4u = simgrid::s4u;
using Links = std::vector<s4u::LinkInRoute>;

namespace {

// Times are in seconds, bandwidths in bytes a second, and sizes in bytes.
struct Machine {
    std::string name;
    int hosts, leaf, sockets; // leaf: hosts of a switch; sockets: hosts of a node
    double nic, nic_latency, trunk, trunk_latency, memory, stream, stream_latency;
    double eager;                // messages of this size or more wait for the receiver: their latency counts three times
    double send, receive, copied; // time of the processor for a message, and for a byte of an eager one
    double inside;               // time of the processor for a message within a node
};

const Machine machines[] = {
    {"switch", 16, 16, 1, 11.8e6, 18e-6, 11.8e6, 12e-6, 1.4e9, 700e6, 1e-6, 65537, 12e-6, 14e-6, 4e-9, 2e-6},
    {"star", 32, 8, 1, 11.8e6, 18e-6, 11.8e6, 12e-6, 1.4e9, 700e6, 1e-6, 65537, 12e-6, 14e-6, 4e-9, 2e-6},
    {"chain", 32, 8, 1, 11.8e6, 18e-6, 11.8e6, 12e-6, 1.4e9, 700e6, 1e-6, 65537, 12e-6, 14e-6, 4e-9, 2e-6},
    {"tree", 64, 8, 1, 12.3e9, .25e-6, 24.6e9, .15e-6, 60e9, 9e9, .2e-6, 16385, .3e-6, .28e-6, .06e-9, .1e-6},
    {"flat", 64, 64, 1, 12.3e9, .25e-6, 24.6e9, .15e-6, 60e9, 9e9, .2e-6, 16385, .3e-6, .28e-6, .06e-9, .1e-6},
    {"sockets", 64, 16, 2, 12.3e9, .25e-6, 24.6e9, .15e-6, 60e9, 9e9, .2e-6, 16385, .3e-6, .28e-6, .06e-9, .1e-6},
    {"fat", 64, 16, 1, 12.3e9, .25e-6, 98.4e9, .15e-6, 60e9, 9e9, .2e-6, 16385, .3e-6, .28e-6, .06e-9, .1e-6},
};

const Machine& chosen()
{
    const char* name = getenv("MACHINE");
    for (auto const& m : machines)
        if (name != nullptr && m.name == name)
            return m;
    fprintf(stderr, "MACHINE=%s: want switch, star, chain, tree, flat, fat or sockets\n", name == nullptr ? "" : name);
    exit(1);
}

// Between two sockets of a node.
const double bus = 20e9, bus_latency = .45e-6;

// Returns a random factor for the latency or the processor's time of one message.
double noise()
{
    static const char* width = getenv("NOISE");
    static std::mt19937_64 random(1);
    static std::normal_distribution<double> normal(0, 1);
    return width == nullptr ? 1 : std::exp(atof(width) * normal(random));
}

struct Builder {
    const Machine& m;
    s4u::NetZone* zone;
    std::map<std::string, s4u::Link*> links;

    s4u::Link* link(const std::string& name, double bandwidth, double latency)
    {
        auto& l = links[name];
        if (l != nullptr)
            return l;
        l = zone->create_link(name, bandwidth)->set_latency(latency);
        if (name[0] == 's') // streams within a node do not share the bandwidth
            l->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE);
        else if (ethernet() && getenv("FLUID") == nullptr && name[0] != 'm')
            l->set_sharing_policy(s4u::Link::SharingPolicy::NONLINEAR,
                                  [](double all, int flows) { return flows <= 1 ? all : all * std::max(.55, 1 - .05 * (flows - 1)); });
        l->seal();
        return l;
    }

    bool ethernet() const { return m.nic < 1e9; }

    // Returns the links between two switches: along the chain, through the star's first switch, or through a tree's top.
    Links between(int from, int to)
    {
        Links way;
        auto go = [&](const std::string& a, const std::string& b) { way.emplace_back(link("trunk" + a + "-" + b, m.trunk, m.trunk_latency)); };
        auto name = [](int i) { return std::to_string(i); };
        if (from == to)
            return way;
        if (m.name == "chain") {
            for (int at = from, step = to > from ? 1 : -1; at != to; at += step)
                go(name(at), name(at + step));
        } else if (m.name == "star") {
            if (from != 0)
                go(name(from), "0");
            if (to != 0)
                go("0", name(to));
        } else {
            go(name(from), "top");
            go("top", name(to));
        }
        return way;
    }

    void build()
    {
        std::vector<s4u::Host*> host;
        for (int i = 0; i < m.hosts; i++) {
            host.push_back(zone->create_host("n" + std::to_string(i), 1e9)->set_core_count(64));
            host[i]->seal();
        }
        for (int i = 0; i < m.hosts; i++)
            for (int j = 0; j < m.hosts; j++) {
                auto a = std::to_string(i / m.sockets), b = std::to_string(j / m.sockets);
                Links way;
                if (i == j) {
                    way = {s4u::LinkInRoute(link("stream" + a, m.stream, m.stream_latency)), s4u::LinkInRoute(link("memory" + std::to_string(i), m.memory, 0))};
                } else if (a == b) {
                    way = {s4u::LinkInRoute(link("bus" + a, bus, bus_latency)), s4u::LinkInRoute(link("memory" + std::to_string(j), m.memory, 0))};
                } else {
                    way.emplace_back(link("up" + a, m.nic, m.nic_latency));
                    for (auto const& l : between(i / m.leaf, j / m.leaf))
                        way.push_back(l);
                    way.emplace_back(link("down" + b, m.nic, m.nic_latency));
                }
                zone->add_route(host[i]->get_netpoint(), host[j]->get_netpoint(), nullptr, nullptr, way, false);
            }
    }
};

// Returns the share of the bandwidth that a message of this size gets.
double share(const Machine& m, bool inside, double size)
{
    if (inside)
        return size < m.eager ? 1 : .8;
    if (m.nic < 1e9)
        return size < 1460 ? .80 : size < 16384 ? .93 : .97;
    return size < 257 ? .15 : size < 1025 ? .45 : size < 4097 ? .70 : size < 65537 ? .82 : .95;
}

} // namespace

extern "C" void load_platform(const s4u::Engine&)
{
    static const Machine& m = chosen();
    auto inside = [](const s4u::Host* a, const s4u::Host* b) { // a rank that has left has no host
        return a != nullptr && b != nullptr && atoi(a->get_cname() + 1) / m.sockets == atoi(b->get_cname() + 1) / m.sockets;
    };
    auto* zone = s4u::create_full_zone("machine");
    Builder{m, zone, {}}.build();
    auto* network = zone->get_network_model();
    using Zones = std::unordered_set<s4u::NetZone*>;
    network->set_lat_factor_cb([](double size, const s4u::Host*, const s4u::Host*, const std::vector<s4u::Link*>&, const Zones&) {
        return (size < m.eager ? 1.0 : 3.0) * noise();
    });
    network->set_bw_factor_cb([inside](double size, const s4u::Host* a, const s4u::Host* b, const std::vector<s4u::Link*>&, const Zones&) {
        return share(m, inside(a, b), size);
    });
    zone->seal();
    auto cost = [inside](double fixed) {
        return [fixed, inside](size_t size, s4u::Host* a, s4u::Host* b) {
            return ((inside(a, b) ? m.inside : fixed) + ((double)size < m.eager ? m.copied * (double)size : 0)) * noise();
        };
    };
    smpi_register_op_cost_callback(SmpiOperation::SEND, cost(m.send));
    smpi_register_op_cost_callback(SmpiOperation::ISEND, cost(m.send));
    smpi_register_op_cost_callback(SmpiOperation::RECV, cost(m.receive));
}
