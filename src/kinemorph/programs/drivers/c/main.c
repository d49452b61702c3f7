#include "simulator_program.h"

int main(int argc, char **argv)
{
    return simulator_program(argc, argv);
}
