/* Scenes for EasyDyn's viewer: all nodes are fixed to carriers, which are bodies, or springs that stretch between them. */
#include "simulator_scene.h"

#include "simulator_model.h"

#define NUMBERS 12 /* of a carrier: A row by row, then b; a node x of its axes is at A x + b in the world */

/* Writes the positions of all nodes; each line begins with the name of the node where `named` is 1. */
static void write_nodes(FILE *file, const simulator *s, double t, const double *row, int named)
{
    double carriers[NUMBERS * SIMULATOR_CARRIERS], x[3];
    simulator_carriers(&t, row, row + SIMULATOR_ROW - SIMULATOR_NM, s->p, carriers);
    for (int k = 0; k < SIMULATOR_NODES; ++k) {
        const double *own = simulator_nodes[k];
        const int carrier = simulator_node_carriers[k];
        for (int i = 0; i < 3; ++i) {
            x[i] = own[i];
            if (carrier >= 0) {
                const double *A = carriers + NUMBERS * carrier + 3 * i, *b = carriers + NUMBERS * carrier + 9;
                x[i] = A[0] * own[0] + A[1] * own[1] + A[2] * own[2] + b[i];
            }
        }
        if (named) fprintf(file, "n%d ", k + 1);
        fprintf(file, "%.7g %.7g %.7g\n", x[0], x[1], x[2]);
    }
}

void simulator_write_frame(FILE *file, const simulator *s, double t, const double *row)
{
    write_nodes(file, s, t, row, 0);
}

void simulator_write_shapes(FILE *file, const simulator *s, double t, const double *row)
{
    fprintf(file, "%s\n%d\n", simulator_scene_title, SIMULATOR_NODES);
    write_nodes(file, s, t, row, 1);
    fprintf(file, "%d\n", SIMULATOR_EDGES);
    for (int k = 0; k < SIMULATOR_EDGES; ++k) {
        const int *edge = simulator_edges[k];
        fprintf(file, "e%d n%d n%d %d\n", k + 1, edge[0] + 1, edge[1] + 1, edge[2]);
    }
    fprintf(file, "%d\n", SIMULATOR_SIDES);
    for (int k = 0; k < SIMULATOR_SIDES; ++k) {
        const int *side = simulator_sides[k];
        fprintf(file, "s%d 3 n%d n%d n%d %d\n", k + 1, side[0] + 1, side[1] + 1, side[2] + 1, side[3]);
    }
}
