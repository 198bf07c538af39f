/* feeler/feeler.h: all of libfeeler at once.
 *
 * Read the headers in this order; each says what it is for, in which unit, who owns
 * what, and which thread may call it (see feeler/api.h for the thread classes):
 */
#ifndef FEELER_FEELER_H
#define FEELER_FEELER_H

#include "feeler/version.h" /* which feeler this is */

/* clang-format off: the order is the one to read in */

/* what everything stands on */
#include "feeler/api.h"       /* thread classes */
#include "feeler/arena.h"     /* memory that is sized once */
#include "feeler/assert.h"    /* a caller's bug */
#include "feeler/env.h"       /* clock, files, sockets, random numbers */
#include "feeler/hash.h"      /* content hash */
#include "feeler/histogram.h" /* how a number is spread */
#include "feeler/latest.h"    /* one thread to another, newest only */
#include "feeler/log.h"       /* log lines */
#include "feeler/result.h"    /* result codes and sentences */
#include "feeler/ring.h"      /* one thread to another, in order */
#include "feeler/sim.h"       /* the same, simulated */
#include "feeler/simd.h"      /* which instructions the fast loops use */
#include "feeler/units.h"     /* lengths as text */

/* numbers */
#include "feeler/inertia.h" /* mass and spatial inertia */
#include "feeler/math.h"    /* vectors, quaternions, poses */

/* triangles */
#include "feeler/adjacency.h" /* who is next to whom; shells */
#include "feeler/check.h"     /* what is wrong with a mesh, in words */
#include "feeler/features.h"  /* quasi-planar polygons; vertices, edges, faces */
#include "feeler/import.h"    /* foreign formats, through the helper process */
#include "feeler/mass.h"      /* volume, centre, inertia of a mesh */
#include "feeler/mesh.h"      /* a part as triangles */
#include "feeler/mesh_io.h"   /* files */

/* voxels */
#include "feeler/cache.h"    /* built once, opened the next time */
#include "feeler/exact.h"    /* the exact distance to a mesh */
#include "feeler/merge.h"    /* several parts in one voxmap */
#include "feeler/shell.h"    /* a part as surface points */
#include "feeler/sweep.h"    /* the room that a moving part takes */
#include "feeler/voxelize.h" /* from triangles to both */
#include "feeler/voxfile.h"  /* both as a file */
#include "feeler/voxmap.h"   /* a part as voxels */

/* touch */
#include "feeler/coherent.h" /* the same by temporal coherence, with a travel limit */
#include "feeler/contact.h"  /* does it touch, where, with which force */
#include "feeler/fit.h"      /* exact contact geometry of tight fits */
#include "feeler/gauge.h"    /* the exact distance of two parts */
#include "feeler/impulse.h"  /* what intersecting voxels do to the parts */
#include "feeler/pairs.h"    /* the same for many parts at once */
#include "feeler/probe.h"    /* where does a segment first meet a mesh */
#include "feeler/proxy.h"    /* what a hand feels that touches a mesh with a point */
#include "feeler/query.h"    /* do they meet, normals, what is near */
#include "feeler/spheres.h"  /* which voxels of two parts intersect */

/* motion */
#include "feeler/body.h"      /* mass, pose, velocity */
#include "feeler/coupling.h"  /* a hand holds a part */
#include "feeler/pager.h"     /* voxels larger than memory */
#include "feeler/passivity.h" /* no energy into the hand */
#include "feeler/recording.h" /* what happened, frame by frame, in a file */
#include "feeler/step.h"      /* what acts on a part, and where it goes */
#include "feeler/world.h"     /* all parts and hands together */

/* hands */
#include "feeler/device.h"   /* where poses come from and wrenches go; drivers */
#include "feeler/guard.h"    /* the only way to a device */
#include "feeler/hand.h"     /* simulated hand, script, replay */
#include "feeler/hardware.h" /* SpaceMouse, force devices, plugins: found and opened by name */
#include "feeler/loop.h"     /* a thousand times a second */
#include "feeler/remote.h"   /* fed by a page or a host */

/* clang-format on */

#endif
