function out = double_pendulum_mass_matrix(q)
%DOUBLE_PENDULUM_MASS_MATRIX  double_pendulum.mass_matrix: 11 operations.
%   q: 2 x 1
%   Returns out: 2 x 2
%   Emitted by Kinemorph. Numbers are double, in SI units and radians.
    if numel(q) ~= 2
        error('input q has %d entries; expected 2', numel(q));
    end
    q = double(reshape(q, 2, 1));
    out = zeros(4, 1);
    x1 = sin(q(2));
    x2 = cos(q(2));
    x3 = 0.36300000000000004 * x1;
    x1 = x1 * x3;
    x3 = 0.36300000000000004 - x1;
    x4 = 1.1880000000000002 * x2;
    x3 = x3 + x4;
    x3 = x3 + 1.824;
    x1 = x1 + x3;
    x2 = 0.5940000000000001 * x2;
    x2 = 0.36300000000000004 + x2;
    out(1) = x1;
    out(2) = x2;
    out(3) = x2;
    out(4) = 0.36300000000000004;
    out = permute(reshape(out, [2 2]), [2 1]);
end
