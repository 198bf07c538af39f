// RRT-Connect of OMPL with FCL, on the problems of `feeler bench plan`: see plan_peers.h
#include "bench/plan_peers.h"

#include <chrono>
#include <cmath>
#include <memory>

#include <fcl/fcl.h>
#include <ompl/base/ScopedState.h>
#include <ompl/base/spaces/SE3StateSpace.h>
#include <ompl/geometric/SimpleSetup.h>
#include <ompl/geometric/planners/rrt/RRTConnect.h>
#include <ompl/util/Console.h>
#include <ompl/util/RandomNumbers.h>

namespace ob = ompl::base;
namespace og = ompl::geometric;
using Model = fcl::BVHModel<fcl::OBBRSSd>;
using State = ob::SE3StateSpace::StateType;

static std::shared_ptr<Model> model_of(const flr_mesh *mesh)
{
    auto model = std::make_shared<Model>();
    model->beginModel();
    for (size_t i = 0; i < mesh->triangle_count; i++) {
        fcl::Vector3d c[3];
        for (int k = 0; k < 3; k++) {
            const flr_vec3 v = mesh->vertices[mesh->triangles[i].v[k]];
            c[k] = fcl::Vector3d(v.x, v.y, v.z);
        }
        model->addTriangle(c[0], c[1], c[2]);
    }
    model->endModel();
    return model;
}

static fcl::Transform3d transform(const flr_pose &T)
{
    fcl::Transform3d out = fcl::Transform3d::Identity();
    out.linear() = fcl::Quaterniond(T.q.w, T.q.x, T.q.y, T.q.z).toRotationMatrix();
    out.translation() = fcl::Vector3d(T.p.x, T.p.y, T.p.z);
    return out;
}

static flr_pose pose_of(const ob::State *state)
{
    const auto *s = state->as<State>();
    const auto &q = s->rotation();
    flr_pose T = {{s->getX(), s->getY(), s->getZ()}, {q.w, q.x, q.y, q.z}};
    return T;
}

static void put(ob::ScopedState<ob::SE3StateSpace> &state, const flr_pose &T)
{
    state->setXYZ(T.p.x, T.p.y, T.p.z);
    state->rotation().w = T.q.w, state->rotation().x = T.q.x;
    state->rotation().y = T.q.y, state->rotation().z = T.q.z;
}

extern "C" double flr_plan_peer_solve(const flr_plan_peer_problem *p)
{
    ompl::msg::setLogLevel(ompl::msg::LOG_NONE);
    ompl::RNG::setSeed(p->seed);
    const auto moving = model_of(p->moving), obstacle = model_of(p->obstacle);
    const fcl::Transform3d T_obstacle = transform(p->T_world_obstacle);
    const auto free = [&](const flr_pose &T) {
        fcl::CollisionRequestd request;
        fcl::CollisionResultd result;
        return fcl::collide(moving.get(), transform(T), obstacle.get(), T_obstacle, request,
                            result) == 0;
    };
    if (!free(p->start) || !free(p->goal)) return NAN;

    auto space = std::make_shared<ob::SE3StateSpace>();
    ob::RealVectorBounds bounds(3);
    const double low[3] = {p->bounds.low.x, p->bounds.low.y, p->bounds.low.z},
                 high[3] = {p->bounds.high.x, p->bounds.high.y, p->bounds.high.z};
    for (unsigned i = 0; i < 3; i++) bounds.setLow(i, low[i]), bounds.setHigh(i, high[i]);
    space->setBounds(bounds);
    og::SimpleSetup setup(space);
    setup.setStateValidityChecker([&](const ob::State *state) {
        return space->satisfiesBounds(state) && free(pose_of(state));
    });
    setup.getSpaceInformation()->setStateValidityCheckingResolution(0.005);
    ob::ScopedState<ob::SE3StateSpace> start(space), goal(space);
    put(start, p->start);
    put(goal, p->goal);
    setup.setStartAndGoalStates(start, goal);
    setup.setPlanner(std::make_shared<og::RRTConnect>(setup.getSpaceInformation()));
    const auto begin = std::chrono::steady_clock::now();
    const ob::PlannerStatus status = setup.solve(p->seconds);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return status == ob::PlannerStatus::EXACT_SOLUTION ? took.count() : -1;
}
