"""User code in MATLAB and GNU Octave: function files of names and of the joints to the march, templates `user_*.m`."""

from __future__ import annotations

from kinemorph.codegen.backends.identifiers import comment
from kinemorph.codegen.backends.text.matlab import RESERVED
from kinemorph.programs.drivers import named
from kinemorph.programs.user_code import EFFORTS, RATES, SAMPLE, SAVE
from kinemorph.programs.user_files.interface import Interface

SHORT = {EFFORTS: "efforts", RATES: "rates", SAMPLE: "sample", SAVE: "save"}  # after the name of the program
ARGUMENTS = "t, q, v, x, m, u, p, position, rotation, velocity, turning"

INSTANT = """function now = simulator_instant(t, q, v, x, m, u, p, position, rotation, velocity, turning)
%SIMULATOR_INSTANT  The model at one instant, as your functions get it.
%   Units are SI units and radians; vectors are columns, in the axes of the world.
%     t                      time [s]
%     q, v, x, m, u, p       coordinates, velocities, further states, memory, inputs, parameters
%     states, memory         those of your own
%     position, velocity     of the origin of each body, 3 x bodies [m, m/s]
%     rotation               of each body, 3 x 3 x bodies: its columns are the axes of the body
%     angular_velocity       of each body, 3 x bodies [rad/s]
%     names                  the places of all names: now.names.BODY.link, now.names.Q.elbow, ...
    persistent names
    if isempty(names)
        names = simulator_names();
    end
    now = struct('t', t, 'q', q, 'v', v, 'x', x, 'm', m, 'u', u, 'p', p);
    now.names = names;
    now.states = x(names.FIRST_STATE + (1:names.COUNT.STATE));
    now.memory = m(names.FIRST_MEMORY + (1:names.COUNT.MEMORY));
    now.position = reshape(position, 3, []);
    now.rotation = permute(reshape(rotation, 3, 3, []), [2 1 3]);
    now.velocity = reshape(velocity, 3, []);
    now.angular_velocity = reshape(turning, 3, []);
end
"""
TROUBLE = """function text = simulator_trouble(now, key, values, returned)
%SIMULATOR_TROUBLE  Notes numbers that are not finite, which a function of yours returned at a finite state.
%   Without arguments, it returns the first of them as text, or '' where there is none.
    persistent known
    if isempty(known)
        known = struct();
    end
    text = '';
    if nargin == 0
        found = fieldnames(known);
        if ~isempty(found)
            text = known.(found{1});
        end
    elseif all(isfinite([now.q(:); now.v(:); now.x(:)]))
        bad = find(~isfinite(values), 1);
        if ~isempty(bad)
            known.(key) = [key, ' gives ', returned{bad}];
        elseif isfield(known, key)
            known = rmfield(known, key);
        end
    end
end
"""
JOINTS = {
    EFFORTS: """function asked = simulator_efforts({arguments})
%SIMULATOR_EFFORTS  Joins user_efforts to the march.
    now = simulator_instant({arguments});
    n = now.names.COUNT;
    add = struct('force', zeros(3, n.BODY), 'moment', zeros(3, n.BODY), 'generalized', zeros(n.V, 1));
    add = user_efforts(now, add);
    asked = [add.force(:); add.moment(:); add.generalized(:)];
    simulator_trouble(now, 'user_efforts', asked, now.names.RETURNED.user_efforts);
end
""",
    RATES: """function asked = simulator_rates({arguments})
%SIMULATOR_RATES  Joins user_rates to the march.
    now = simulator_instant({arguments});
    asked = user_rates(now);
    asked = asked(:);
    simulator_trouble(now, 'user_rates', asked, now.names.RETURNED.user_rates);
end
""",
    SAMPLE: """function asked = simulator_sample({arguments})
%SIMULATOR_SAMPLE  Joins user_sample to the march.
    now = simulator_instant({arguments});
    memory = user_sample(now);
    asked = [memory(:); 1];
    simulator_trouble(now, 'user_sample', asked, now.names.RETURNED.user_sample);
end
""",
    SAVE: """function asked = simulator_save({arguments})
%SIMULATOR_SAVE  Joins user_save to the march.
    user_save(simulator_instant({arguments}));
    asked = 1;
end
""",
}
FUNCTIONS = {
    EFFORTS: """function add = user_efforts(now, add)
%USER_EFFORTS  Adds forces and moments on bodies, and generalized forces, which are 0 before.
%   add.force, add.moment    on each body, at its origin and in the axes of the world, 3 x bodies [N, N m]
%   add.generalized          along each velocity [N m or N]
%   It is called several times in each step, also for steps that are tried again: it must depend on `now` alone.
    % A spring and a damper from a body to the origin of the world:
    % k = now.names.BODY.{body};
    % add.force(:, k) = add.force(:, k) - 100 * now.position(:, k) - 2 * now.velocity(:, k);
end
""",
    RATES: """function rates = user_rates(now)
%USER_RATES  The rates of your states [1/s], a number for each. They must depend on `now` alone.
    rates = zeros(now.names.COUNT.STATE, 1);
end
""",
    SAMPLE: """function memory = user_sample(now)
%USER_SAMPLE  Your memory from now on, a number for each, at the sample times.
    memory = now.memory;
end
""",
    SAVE: """function user_save(now) %#ok<INUSD>
%USER_SAVE  Is called at the times of saving.
end
""",
}


def asked_names(name: str) -> dict[str, str]:
    """The names in MATLAB of the foreign functions of the march, by their names there."""
    return {function: f"{name}_{short}" for function, short in SHORT.items()}


def interface_texts(face: Interface) -> dict[str, str]:
    """{file name: text} of the names, and of the functions that join user code to the march."""
    texts = {"simulator_instant.m": INSTANT, "simulator_trouble.m": TROUBLE}
    for function in face.functions:
        texts[f"simulator_{SHORT[function]}.m"] = JOINTS[function].replace("{arguments}", ARGUMENTS)
    return {f"{face.name}_names.m": _names(face)} | {
        named(file, face.name): named(text, face.name) for file, text in texts.items()
    }


def _names(face: Interface) -> str:
    lines = [
        f"function names = {face.name}_names()",
        f"%{face.name.upper()}_NAMES  The names of the program for your functions user_*.m. Emitted by Kinemorph.",
        "%   This file is written anew with each program, and your functions are not.",
        *(f"%   {line}" for line in face.lines),
        f"    names.INTERFACE = '{face.digest}';",
        f"    names.FIRST_STATE = {face.first_state};",
        f"    names.FIRST_MEMORY = {face.first_memory};",
    ]
    for group, entries in face.groups.items():
        lines.append(f"    names.COUNT.{group} = {len(entries)};")
        for k, entry in enumerate(entries, start=1):
            unit = f" [{comment(entry.unit)}]" if entry.unit else ""
            lines.append(f"    names.{group}.{_field(entry.word)} = {k};  % {comment(entry.name)}{unit}")
    for function, returned in face.functions.items():
        listed = ", ...\n        ".join("'" + comment(one).replace("'", "''") + "'" for one in returned)
        lines.append(f"    names.RETURNED.{function} = {{{listed}}};")
    return "\n".join([*lines, "end", ""])


def _field(word: str) -> str:
    """An identifier as the name of a field, which must not be a word of the language."""
    return f"{word}_" if word in RESERVED else word


def template(face: Interface) -> dict[str, str]:
    """{file name: text} of the user's own files before the user has written them."""
    body = next((_field(entry.word) for entry in face.groups["BODY"]), "name")
    return {f"{function}.m": FUNCTIONS[function].replace("{body}", body) for function in face.functions}
