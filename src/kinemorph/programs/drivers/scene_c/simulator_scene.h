/*
 * Scenes for EasyDyn's viewer EasyAnim: the shapes of the model in a .vol file, and the positions of their nodes at every
 * sample in a .van file. The tables are in simulator_scene_data.c.
 */
#ifndef SIMULATOR_SCENE_H
#define SIMULATOR_SCENE_H

#include <stdio.h>

#include "simulator.h"
#include "simulator_scene_data.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const char *const simulator_scene_title;
extern const int simulator_node_carriers[SIMULATOR_NODES];    /* to which carrier a node is fixed; -1 is the world */
extern const double simulator_nodes[SIMULATOR_NODES][3];      /* in the axes of the carrier [m] */
extern const int simulator_edges[SIMULATOR_ROOM(SIMULATOR_EDGES)][3]; /* two nodes and a color from 0 to 15 */
extern const int simulator_sides[SIMULATOR_ROOM(SIMULATOR_SIDES)][4]; /* three nodes and a color */

/* Writes the positions x y z [m] of all nodes at the time t [s] and the sample `row`, one line each. */
void simulator_write_frame(FILE *file, const simulator *s, double t, const double *row);

/* Writes the shapes, with their nodes where they are at the time t [s] and the sample `row`. */
void simulator_write_shapes(FILE *file, const simulator *s, double t, const double *row);

#ifdef __cplusplus
}
#endif

#endif
