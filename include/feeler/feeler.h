/* feeler/feeler.h: all of libfeeler at once.
 *
 * The headers below are in reading order. Each says what it is for, in which unit, who owns what,
 * and which thread may call it (feeler/base.h explains the thread classes). docs/hello.md is a first
 * program; feeler/client.h, a library of its own, talks to a running controller instead.
 */
#ifndef FEELER_FEELER_H
#define FEELER_FEELER_H

#include "feeler/version.h" /* which feeler this is */

/* clang-format off: the order is the one to read in */

/* foundations */
#include "feeler/base.h" /* results, assertions, hash, units, queues between threads */
#include "feeler/env.h"  /* clock, files, sockets, random numbers; the log */
#include "feeler/ids.h"  /* names of parts, meshes and hands of a running simulation */
#include "feeler/math.h" /* vectors, quaternions, poses, wrenches, inertia */
#include "feeler/sim.h"  /* the same, simulated for tests */

/* parts */
#include "feeler/assembly.h"   /* files of several parts, as a tree */
#include "feeler/merge.h"      /* several parts in one voxmap; swept volumes */
#include "feeler/mesh.h"       /* triangles, mesh files of any format */
#include "feeler/mesh_check.h" /* neighbours, mass, defects, features of a mesh */
#include "feeler/pager.h"      /* voxels larger than memory */
#include "feeler/voxel_file.h" /* voxels as a file; the cache */
#include "feeler/voxels.h"     /* voxels, surface points, exact distance: from a mesh to both */

/* contact */
#include "feeler/batch.h"    /* many queries at once, on all cores */
#include "feeler/clash.h"    /* which parts of an assembly overlap or are too near */
#include "feeler/contact.h"  /* does it touch, where, with which force */
#include "feeler/distance.h" /* exact distances and tolerances of two parts; what is near */
#include "feeler/fit.h"      /* exact contact geometry of tight fits */
#include "feeler/pairs.h"    /* the same for many parts at once */
#include "feeler/plan.h"     /* removal paths: found, and checked exactly */
#include "feeler/probe.h"    /* segments and points against triangles */
#include "feeler/spheres.h"  /* the second engine: voxels against voxels, impulses */

/* motion */
#include "feeler/dynamics.h"  /* bodies, couplings, one step, passivity */
#include "feeler/joint.h"     /* joints between parts */
#include "feeler/recording.h" /* what happened, frame by frame, in a file */
#include "feeler/world.h"     /* all parts and hands together: start here to simulate */

/* devices */
#include "feeler/device.h" /* drivers, the output guard, hardware found by name */
#include "feeler/hand.h"   /* simulated hands, scripts, replays, remote input */
#include "feeler/loop.h"   /* the loop: a thousand frames per second */

/* clang-format on */

#endif
