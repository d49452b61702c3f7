// Pinocchio's algorithms behind a C interface, for the side-by-side tables.
//
// A model arrives joint by joint, as numbers; `run` evaluates n states in one call, so that no Python stands between two
// evaluations. Built header-only: every template is compiled here, for this CPU.

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/impulse-dynamics.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

namespace {

namespace pin = pinocchio;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using State = Eigen::Map<const Vector>;

// Closed loops. Each algorithm has data of its own: what one leaves behind there, the other would take for its input.
struct Loops {
    std::vector<pin::RigidConstraintModel> models;
    std::vector<pin::RigidConstraintData> datas;
    pin::Data data;
    pin::ProximalSettings settings;
};

struct Peer {
    pin::Model model;
    pin::Data data;
    Loops dense, sparse;  // constraintDynamics or impulseDynamics, lcaba
    pin::Data::Matrix6x jacobian;
    pin::JointIndex tip = 0;
};

// The order of ALGORITHMS and JOINTS in pinocchio_cpp.py.
enum Algorithm {
    RNEA, CRBA, CRBA_WORLD, ABA, ABA_WORLD, DRNEA, DABA, FK, JACOBIAN, CONSTRAINED, LCABA, IMPULSE, REGRESSOR
};
enum Kind { RX, RY, RZ, RU, RUBX, RUBY, RUBZ, RUBU, PX, PY, PZ, PU, H, PLANAR, SPHERICAL, FREE };

pin::JointModel joint_model(int kind, const Eigen::Vector3d& axis, double pitch) {
    switch (kind) {
        case RX: return pin::JointModelRX();
        case RY: return pin::JointModelRY();
        case RZ: return pin::JointModelRZ();
        case RU: return pin::JointModelRevoluteUnaligned(axis);
        case RUBX: return pin::JointModelRUBX();
        case RUBY: return pin::JointModelRUBY();
        case RUBZ: return pin::JointModelRUBZ();
        case RUBU: return pin::JointModelRevoluteUnboundedUnaligned(axis);
        case PX: return pin::JointModelPX();
        case PY: return pin::JointModelPY();
        case PZ: return pin::JointModelPZ();
        case PU: return pin::JointModelPrismaticUnaligned(axis);
        case H: return pin::JointModelHelicalUnaligned(axis, pitch);
        case PLANAR: return pin::JointModelPlanar();
        case SPHERICAL: return pin::JointModelSpherical();
        default: return pin::JointModelFreeFlyer();
    }
}

pin::SE3 pose(const double* R, const double* p) {
    const Eigen::Matrix3d rotation = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(R);
    return pin::SE3{rotation, Eigen::Vector3d(p)};
}

void evaluate(Peer& peer, int algorithm, const State& q, const State& v, const State& x) {
    const pin::Model& model = peer.model;
    pin::Data& data = peer.data;
    switch (algorithm) {
        case RNEA: pin::rnea(model, data, q, v, x); break;
        case CRBA: pin::crba(model, data, q, pin::Convention::LOCAL); break;
        case CRBA_WORLD: pin::crba(model, data, q, pin::Convention::WORLD); break;
        case ABA: pin::aba(model, data, q, v, x, pin::Convention::LOCAL); break;
        case ABA_WORLD: pin::aba(model, data, q, v, x, pin::Convention::WORLD); break;
        case DRNEA: pin::computeRNEADerivatives(model, data, q, v, x); break;
        case DABA: pin::computeABADerivatives(model, data, q, v, x); break;
        case FK: pin::forwardKinematics(model, data, q); break;
        case JACOBIAN: pin::computeJointJacobian(model, data, q, peer.tip, peer.jacobian); break;
        case REGRESSOR: pin::computeJointTorqueRegressor(model, data, q, v, x); break;
        case CONSTRAINED: {
            Loops& loops = peer.dense;
            pin::constraintDynamics(model, loops.data, q, v, x, loops.models, loops.datas, loops.settings);
            break;
        }
        case IMPULSE: {
            Loops& loops = peer.dense;
            pin::impulseDynamics(model, loops.data, q, v, loops.models, loops.datas, 0.0, loops.settings);
            break;
        }
        default: {
            Loops& loops = peer.sparse;
            pin::lcaba(model, loops.data, q, v, x, loops.models, loops.datas, loops.settings);
        }
    }
}

double* put(double* out, const Eigen::Ref<const Matrix>& values) {
    Eigen::Map<Rows>(out, values.rows(), values.cols()) = values;
    return out + values.size();
}

double* put_symmetric(double* out, const Matrix& upper) {
    return put(out, Matrix(upper.selfadjointView<Eigen::Upper>()));
}

double* result(const Peer& peer, int algorithm, double* out) {
    const pin::Data& data = peer.data;
    switch (algorithm) {
        case RNEA: return put(out, data.tau);
        case CRBA:
        case CRBA_WORLD: return put_symmetric(out, data.M);
        case ABA:
        case ABA_WORLD: return put(out, data.ddq);
        case DRNEA: return put_symmetric(put(put(out, data.dtau_dq), data.dtau_dv), data.M);
        case DABA: return put_symmetric(put(put(out, data.ddq_dq), data.ddq_dv), data.Minv);
        case FK:
            for (std::size_t i = 1; i < data.oMi.size(); ++i) out = put(out, data.oMi[i].toHomogeneousMatrix());
            return out;
        case JACOBIAN: return put(out, peer.jacobian);
        case REGRESSOR: return put(out, data.jointTorqueRegressor);
        case CONSTRAINED: return put(out, peer.dense.data.ddq);
        case IMPULSE: return put(out, peer.dense.data.dq_after);
        default: return put(out, peer.sparse.data.ddq);
    }
}

}  // namespace

extern "C" {

Peer* peer_new(const double* gravity) {
    Peer* peer = new Peer();
    peer->model.gravity.linear() = Eigen::Vector3d(gravity);
    return peer;
}

// One joint with the body on it: pose in the parent joint's frame, row by row; inertia about the center of mass.
void peer_joint(Peer* peer, int parent, int kind, const double* axis, double pitch, const double* R, const double* p,
                double mass, const double* com, const double* inertia, const double* armature) {
    pin::Model& model = peer->model;
    const pin::JointIndex index = model.addJoint(pin::JointIndex(parent), joint_model(kind, Eigen::Vector3d(axis), pitch),
                                                 pose(R, p), "joint" + std::to_string(model.njoints));
    const pin::Inertia body{mass, Eigen::Vector3d(com), Eigen::Matrix3d(inertia)};
    model.appendBodyToJoint(index, body, pin::SE3::Identity());
    const pin::JointModel& joint = model.joints[index];
    model.armature.segment(joint.idx_v(), joint.nv()) = Eigen::Map<const Vector>(armature, joint.nv());
}

void peer_ready(Peer* peer, int tip) {
    peer->data = pin::Data(peer->model);
    peer->jacobian = pin::Data::Matrix6x::Zero(6, peer->model.nv);
    peer->tip = pin::JointIndex(tip);
}

// A point of one joint's body that is held at a point of another's; after `peer_ready`, before `peer_settle`.
void peer_loop(Peer* peer, int first, const double* R1, const double* p1, int second, const double* R2,
               const double* p2) {
    const pin::RigidConstraintModel loop(pin::CONTACT_3D, peer->model, pin::JointIndex(first), pose(R1, p1),
                                         pin::JointIndex(second), pose(R2, p2), pin::LOCAL);
    for (Loops* loops : {&peer->dense, &peer->sparse}) {
        loops->models.push_back(loop);
        loops->datas.push_back(loop.createData());
    }
}

// The regularization and the most iterations of one of these algorithms; they end early where nothing changes.
void peer_settle(Peer* peer, int algorithm, double mu, int iterations) {
    Loops& loops = algorithm == LCABA ? peer->sparse : peer->dense;
    loops.settings = pin::ProximalSettings(1e-14, 1e-14, mu, iterations);
    loops.data = pin::Data(peer->model);
    if (algorithm != LCABA)
        pin::initConstraintDynamics(peer->model, loops.data, loops.models, loops.datas);
    else
        pin::computeJointMinimalOrdering(peer->model, loops.data, loops.models);
}

// `steps` steps of RK4 from (q, v), without forces, for robots of hinges and slides; q and v are where it ends.
void peer_march(Peer* peer, int algorithm, long steps, double h, double* q, double* v) {
    const int n = peer->model.nv;
    Eigen::Map<Vector> at(q, n), speed(v, n);
    const Vector none = Vector::Zero(n);
    const Vector& a = (algorithm == CONSTRAINED ? peer->dense : peer->sparse).data.ddq;
    Vector q_stage(n), v_stage(n), q_sum(n), v_sum(n);
    const double ahead[] = {0.5 * h, 0.5 * h, h}, share[] = {h / 6, h / 3, h / 3, h / 6};
    for (long k = 0; k < steps; ++k) {
        q_stage = q_sum = at;
        v_stage = v_sum = speed;
        for (int stage = 0; stage < 4; ++stage) {
            evaluate(*peer, algorithm, State(q_stage.data(), n), State(v_stage.data(), n), State(none.data(), n));
            q_sum += share[stage] * v_stage;
            v_sum += share[stage] * a;
            if (stage == 3) break;
            q_stage = at + ahead[stage] * v_stage;
            v_stage = speed + ahead[stage] * a;
        }
        at = q_sum;
        speed = v_sum;
    }
}

// n states in a row. Where `out` is given, every result is written there, row by row.
void peer_run(Peer* peer, int algorithm, long n, const double* q, const double* v, const double* x, double* out) {
    const int nq = peer->model.nq, nv = peer->model.nv;
    for (long k = 0; k < n; ++k) {
        evaluate(*peer, algorithm, State(q + k * nq, nq), State(v + k * nv, nv), State(x + k * nv, nv));
        if (out) out = result(*peer, algorithm, out);
    }
}

void peer_delete(Peer* peer) { delete peer; }

}  // extern "C"
