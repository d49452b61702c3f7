#include <memory>

#include "simulator.hpp"
#include "simulator_program.h"

int main(int argc, char **argv)
{
    const std::unique_ptr<simulator_model> model(new simulator_model); // large; not on the stack
    simulator_options options;
    simulator_plan plan;
    simulator_files files;
    int code = simulator_read_options(argc, argv, &options, &model->data(), &plan);
    if (code >= 0) return code;
    code = simulator_open_files(&files, &options, &model->data());
    if (code != 0) return code;
    const auto outcome = model->run(
        plan, [&files](double t, const double *row, int piece) { simulator_write_sample(&files, t, row, piece); },
        [&files](double t, const char *name, const char *kind, double lost) {
            simulator_write_event(&files, t, name, kind, lost);
        });
    return simulator_close_files(&files, outcome.kind.c_str(), outcome.t, outcome.events, outcome.message.c_str());
}
