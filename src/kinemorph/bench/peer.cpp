// Pinocchio's algorithms behind a C interface, for the side-by-side tables.
//
// A model arrives joint by joint, as numbers; `run` evaluates n states in one call, so that no Python stands between two
// evaluations. Built header-only: every template is compiled here, for this CPU.

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

namespace {

namespace pin = pinocchio;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using State = Eigen::Map<const Vector>;

struct Peer {
    pin::Model model;
    pin::Data data;
    pin::Data::Matrix6x jacobian;
    pin::JointIndex tip = 0;
};

// The order of ALGORITHMS and JOINTS in pinocchio_cpp.py.
enum Algorithm { RNEA, CRBA, CRBA_WORLD, ABA, ABA_WORLD, DRNEA, DABA, FK, JACOBIAN };
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
        default: pin::computeJointJacobian(model, data, q, peer.tip, peer.jacobian);
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
        default: return put(out, peer.jacobian);
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
    const Eigen::Matrix3d rotation = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(R);
    const pin::SE3 placement{rotation, Eigen::Vector3d(p)};
    const pin::JointIndex index = model.addJoint(pin::JointIndex(parent), joint_model(kind, Eigen::Vector3d(axis), pitch),
                                                 placement, "joint" + std::to_string(model.njoints));
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
