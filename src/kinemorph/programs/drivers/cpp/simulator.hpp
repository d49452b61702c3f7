// The model as a class, on the functions of its C library. Units are SI units and radians.
//
//     simulator_model model;
//     model.set("u.motor", 1.5);
//     model.advance(0.001);
//     double angle = model.get("q.elbow");
#ifndef SIMULATOR_HPP
#define SIMULATOR_HPP

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "simulator_run.h"

class simulator_model {
public:
    struct Outcome {
        std::string kind; // "finished", "stopped", "rest" or "failed"
        double t;         // [s]
        std::string message;
        long events;
        bool ok;
    };
    using Sample = std::function<void(double t, const double *row, int piece)>;
    using Event = std::function<void(double t, const char *name, const char *kind, double lost)>;

    // The initial state of the job.
    simulator_model() { simulator_init(&state_); }

    // The present time [s].
    double time() const { return simulator_time(&state_); }
    void set_time(double t) { simulator_set_time(&state_, t); }

    // The present value of a column by its name, such as "q.elbow".
    double get(const std::string &name) const { return simulator_get(&state_, column(name)); }

    // Sets a state, an input or a parameter by its name.
    void set(const std::string &name, double value)
    {
        if (simulator_set(&state_, column(name), value) != 0) {
            throw std::invalid_argument("'" + name + "' is memory of an element, which samples it. Set a state.");
        }
    }

    // The names of all columns: q, v, x, m, u and p.
    static std::vector<std::string> names()
    {
        std::vector<std::string> found;
        for (int k = 0; k < SIMULATOR_COLUMNS; ++k) found.push_back(simulator_name(k));
        return found;
    }

    // Advances to a time [s]; false if the motion ended before it.
    bool advance(double until) { return simulator_advance(&state_, until) == SIMULATOR_GOING; }

    long accepted() const { return simulator_accepted(&state_); }
    long rejected() const { return simulator_rejected(&state_); }

    // A whole run, from the present state on; by default as in the job.
    Outcome run(const Sample &sample = Sample(), const Event &event = Event())
    {
        simulator_plan plan;
        simulator_usual_plan(&plan);
        return run(plan, sample, event);
    }

    Outcome run(simulator_plan plan, const Sample &sample, const Event &event = Event())
    {
        Sinks sinks = {sample, event};
        simulator_outcome outcome;
        plan.sample = deliver_sample;
        plan.event = deliver_event;
        plan.sink = &sinks;
        const int good = simulator_run(&state_, &plan, &outcome);
        std::vector<char> text(4096);
        simulator_message(&outcome, text.data(), static_cast<int>(text.size()));
        return {outcome.kind, outcome.t, text.data(), outcome.events, good != 0};
    }

    // The data of the C library, for functions that are not in this class. A copy is a state that can be restored.
    simulator &data() { return state_; }
    const simulator &data() const { return state_; }

private:
    struct Sinks {
        const Sample &sample;
        const Event &event;
    };

    static int column(const std::string &name)
    {
        const int k = simulator_find(name.c_str());
        if (k < 0) throw std::invalid_argument("there is no column '" + name + "'. names() lists all of them.");
        return k;
    }

    static void deliver_sample(void *sink, double t, const double *row, int piece)
    {
        const Sinks &sinks = *static_cast<Sinks *>(sink);
        if (sinks.sample) sinks.sample(t, row, piece);
    }

    static void deliver_event(void *sink, double t, const char *name, const char *kind, double lost)
    {
        const Sinks &sinks = *static_cast<Sinks *>(sink);
        if (sinks.event) sinks.event(t, name, kind, lost);
    }

    simulator state_;
};

#endif
