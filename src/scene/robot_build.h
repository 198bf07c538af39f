/* robot_build.h: a scene in the making, for the readers of robot descriptions (urdf.c, mjcf.c). */
#ifndef FLR_SCENE_ROBOT_BUILD_H
#define FLR_SCENE_ROBOT_BUILD_H

#include "scene/robot.h"
#include "scene/xml.h"

enum {
    FLR_ROBOT_NAME = 200,
    FLR_ROBOT_LINKS = 2000,
    FLR_ROBOT_PARTS = 4096, /* shapes of all links; also the limit of joints */
    FLR_ROBOT_PATH = 4096
};

/* A rigid body of a robot: one part, or several as a rigid group. */
typedef struct flr_robot_link {
    char name[FLR_ROBOT_NAME + 1]; /* unique */
    flr_pose T_world_link;
    double mass; /* kg; 0: not given */
    bool moving;
    uint32_t parts;
} flr_robot_link;

typedef struct flr_robot_part {
    uint32_t link;
    flr_mesh *mesh; /* its own, in metres */
    flr_pose T_world_part;
    uint32_t colour;
    bool hidden;
} flr_robot_part;

typedef struct flr_robot_joint {
    char name[FLR_ROBOT_NAME + 1];
    uint32_t a, b; /* links; a: FLR_XML_NONE: the world */
    flr_joint joint;
} flr_robot_joint;

typedef struct flr_robot {
    const flr_scene_import_def *def;
    const char *file;
    const flr_xml *xml;
    char folder[FLR_ROBOT_PATH]; /* of the description, with a slash at its end; "" */
    flr_robot_link *links;
    flr_robot_part *parts;
    flr_robot_joint *joints;
    uint32_t link_count, link_room, part_count, part_room, joint_count, joint_room;
    char *notes; /* lines */
    uint32_t note_count;
    flr_error *error;
} flr_robot;

/* All return false after they have filled the error. */
bool flr_robot_fail(const flr_robot *robot, uint32_t element, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool flr_robot_note(flr_robot *robot, uint32_t element, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool flr_robot_add_link(flr_robot *robot, const char *name, flr_pose T_world_link, bool moving,
                        uint32_t *link);
/* Takes the mesh over, also where it fails. */
bool flr_robot_add_part(flr_robot *robot, uint32_t link, flr_mesh *mesh, flr_pose T_link_part,
                        uint32_t colour);
bool flr_robot_add_joint(flr_robot *robot, const char *name, uint32_t a, uint32_t b,
                         const flr_joint *joint);
/* The mesh of a file, scaled. "package://x/y" is looked for as x/y and y from the description's folder upwards. */
bool flr_robot_load(flr_robot *robot, uint32_t element, const char *file, flr_vec3 scale,
                    flr_mesh **mesh);
/* Around the origin; a cylinder along z, its ends round: a capsule. */
bool flr_robot_box(flr_robot *robot, flr_vec3 size, flr_mesh **mesh);
bool flr_robot_round(flr_robot *robot, double radius, double length, bool round_ends,
                     flr_mesh **mesh);
/* `count` numbers of an attribute, which may be NULL: then they stay. */
bool flr_robot_numbers(const flr_robot *robot, uint32_t element, const char *text, double *to,
                       int count);

/* The readers: fill the robot from its file. */
bool flr_urdf_read(flr_robot *robot);
bool flr_mjcf_read(flr_robot *robot);

#endif
