function [t, rows, outcome, events] = simulator(varargin)
%SIMULATOR  Simulates the model, in MATLAB or GNU Octave.
%   [t, rows, outcome, events] = simulator()  carries out the run of the job. Row k of rows is the sample [q, v, x, m]
%   at the time t(k) [s]; outcome.kind is 'finished', 'stopped', 'rest' or 'failed', outcome.message says why;
%   events is a cell array with one row {t, name, kind, energy lost [J]} for each event.
%
%   simulator('until', 5, 'set', {'q.elbow', 0.5, 'u.motor', 2})  gives options:
%     until, start, output_step     times [s]
%     step; rtol, atol, max_step    the size of all steps [s]; tolerances of steps that the method chooses
%     most_events                   ends the run after so many events
%     set                           states, inputs and parameters: names, each followed by its value
%     output, events                files of comma-separated values
%     quiet                         true prints no message about a run that ends well
%     list                          true lists names, values and units, and simulates nothing
%   Units are SI units and radians.
    data = simulator_data();
    [model, options] = read_options(data, varargin);
    t = []; rows = []; outcome = struct('kind', '', 't', 0, 'message', ''); events = cell(0, 4);
    if options.list
        for k = 1:size(data.columns, 1)
            fprintf('%s = %.17g %s\n', data.columns{k, 1}, get_value(data, model, k), data.columns{k, 2});
        end
        return
    end
    run = start_run(data, model, options);
    run = carry_out(data, run);
    t = run.t(1:run.count);
    rows = run.rows(1:run.count, :);
    events = run.events;
    outcome.kind = run.kind; outcome.t = run.ended; outcome.message = run.message;
    outcome.accepted = run.model.memory(data.sizes.at_accepted + 1);
    outcome.rejected = run.model.memory(data.sizes.at_rejected + 1);
    write_files(data, options, run);
    if strcmp(run.kind, 'failed')
        fprintf(2, 'failed: %s\n', run.message);
    elseif ~options.quiet
        fprintf(2, '%s at t = %.9g s: %d steps accepted, %d rejected, %d events, %d samples. %s\n', run.kind, run.ended, ...
                outcome.accepted, outcome.rejected, size(events, 1), run.count, run.message);
    end
end

% ---- the model -------------------------------------------------------------------------------------------------------

function [model, options] = read_options(data, given)
    model = struct('memory', data.memory, 'u', data.u, 'p', data.p, 'limits', data.limits, ...
                   'kept', zeros(2, data.sizes.nv), 'ready', false, 'moved', 0);
    options = struct('until', data.constants.until, 'start', data.constants.start, 'output_step', [], ...
                     'step', [], 'rtol', [], 'atol', [], 'max_step', [], ...
                     'most_events', data.constants.most_events, 'set', [], 'output', '', 'events', '', ...
                     'quiet', false, 'list', false);
    options.set = {};
    for k = 1:2:numel(given)
        if k == numel(given) || ~ischar(given{k}) || ~isfield(options, given{k})
            error('option %d is unknown or has no value. See `help simulator`.', k);
        end
        options.(given{k}) = given{k + 1};
    end
    for k = 1:2:numel(options.set)
        model = set_value(data, model, options.set{k}, options.set{k + 1});
    end
    if model.memory(data.sizes.at_t + 1) ~= options.start
        model.memory(data.sizes.at_t + 1) = options.start;
        model.ready = false; model.moved = 2;
    end
    limits = {'rtol', 1; 'atol', 2; 'max_step', 4};
    for k = 1:size(limits, 1)
        value = options.(limits{k, 1});
        if ~isempty(value)
            if data.constants.fixed && k < 3
                error('%s has no effect: all steps have the same size.', limits{k, 1});
            end
            model.limits(limits{k, 2}) = value;
        end
    end
    if ~isempty(options.step)
        if ~data.constants.fixed
            error('step has no effect: the method chooses its steps.');
        end
        model.memory(data.sizes.at_h + 1) = options.step;
    end
    if ~(options.until > options.start)
        error('until is %g s and start %g s; expected an end after the start.', options.until, options.start);
    end
end

function [group, place] = column_place(data, k)
    n = data.sizes;
    if k <= n.nq
        group = 'memory'; place = n.at_base + k;
    elseif k <= n.nq + n.nv + n.nx
        group = 'memory'; place = n.at_s + n.nv + k - n.nq;
    elseif k <= n.row
        group = 'memory'; place = n.at_m_next + k - (n.row - n.nm);
    elseif k <= n.row + n.nu
        group = 'u'; place = k - n.row;
    else
        group = 'p'; place = k - n.row - n.nu;
    end
end

function value = get_value(data, model, k)
    [group, place] = column_place(data, k);
    value = model.(group)(place);
end

function model = set_value(data, model, name, value)
    n = data.sizes;
    k = find(strcmp(data.columns(:, 1), name), 1);
    if isempty(k)
        error('''%s'': %s has no such name. The option list shows all names.', name, data.name);
    elseif k > n.row - n.nm && k <= n.row
        error('''%s'' is memory of an element, which samples it. Set a state.', name);
    end
    [group, place] = column_place(data, k);
    if model.(group)(place) ~= value
        model.(group)(place) = value;
        model.ready = false;
        if k <= n.row
            model.moved = max(model.moved, 1);
        elseif k > n.row + n.nu
            model.moved = max(model.moved, 0.5);
        end
    end
    if k <= n.nq
        first = data.moves(k, 1) + 1;
        model.kept(1, first:first + data.moves(k, 2) - 1) = 1;
    elseif k <= n.nq + n.nv
        model.kept(2, k - n.nq) = 1;
    end
end

function row = present_row(data, model)
    n = data.sizes; m = model.memory;
    q = m(n.at_base + 1:n.at_base + n.nq);
    vx = m(n.at_s + n.nv + 1:n.at_s + n.ns);
    row = [q; vx; m(n.at_m_next + 1:n.at_m_next + n.nm)]';
end

function [model, status] = prepare(data, model)
    status = data.statuses.going;
    if ~model.ready
        [model.memory, status] = simulator_start(model.memory, model.moved, model.kept, model.u, model.p);
        model.ready = true; model.moved = 0; model.kept(:) = 0;
    end
end

function [model, status, rows, jumps] = march(data, model, times, stop)
    rows = zeros(0, data.sizes.row); jumps = zeros(0, data.sizes.log_width);
    [model, status] = prepare(data, model);
    if status ~= data.statuses.going
        return
    end
    padded = zeros(data.sizes.samples, 1);
    padded(1:numel(times)) = times;
    if data.sizes.guards > 0
        [memory, found, done, status, fired, log, logged] = simulator_steps(model.memory, padded, numel(times), stop, ...
            model.limits, model.u, model.p); %#ok<ASGLU>
        jumps = log(1:logged, :);
    else
        [memory, found, done, status] = simulator_steps(model.memory, padded, numel(times), stop, model.limits, ...
            model.u, model.p);
    end
    model.memory = memory;
    rows = found(1:done, :);
end

% ---- sample times ----------------------------------------------------------------------------------------------------

function t = snapped(data, t)
    for k = 1:size(data.clocks, 1)
        first = data.clocks(k, 1); step = data.clocks(k, 2); parts = data.clocks(k, 3);
        if step < 1e300
            at = (first + max(round((t * parts - first) / step), 0) * step) / parts;
            if abs(t - at) <= 1e-9 * step / parts
                t = at;
            end
        end
    end
end

function [over, under] = ratio(x)
    % the ratio of whole numbers up to 1e6 that equals x up to rounding; under is 0 where there is none
    rest = abs(x); p0 = 1; q0 = 0; p1 = floor(rest); q1 = 1; over = 0; under = 0;
    for k = 1:40
        if abs(p1 / q1 - abs(x)) <= 4 * eps * abs(x)
            over = p1; under = q1;
            if x < 0
                over = -p1;
            end
            return
        end
        part = rest - floor(rest);
        if part <= 0
            return
        end
        rest = 1 / part;
        p = floor(rest) * p1 + p0; q = floor(rest) * q1 + q0;
        if q > 1e6
            return
        end
        p0 = p1; q0 = q1; p1 = p; q1 = q;
    end
end

function times = sample_times(data, start, finish, spacing)
    if isempty(spacing)
        spacing = data.constants.spacing;
        if spacing <= 0
            times = [start; data.times(data.times > start & data.times < finish); finish];
            for k = 2:numel(times)
                times(k) = snapped(data, times(k));
            end
            return
        end
    end
    [a, b] = ratio(spacing); [c, d] = ratio(start);
    first = start; step = spacing; parts = 1;
    if b > 0 && d > 0 && lcm(b, d) <= 1e9
        parts = lcm(b, d); first = c * (parts / d); step = a * (parts / b);
    end
    count = floor((finish - start) / spacing * (1 + 1e-12) + 1e-9);
    times = (first + (0:count)' * step) / parts;
    if finish - times(end) > 1e-9 * (finish - start)
        times = [times; finish];
    end
    times(end) = finish;
    times(1) = start;
    for k = 2:numel(times)
        times(k) = snapped(data, times(k));
    end
end

% ---- a run -----------------------------------------------------------------------------------------------------------

function run = start_run(data, model, options)
    model.limits(6) = options.most_events;
    times = sample_times(data, options.start, options.until, options.output_step);
    run = struct('model', model, 'times', times, 'next', 1, 't', zeros(numel(times), 1), ...
                 'rows', zeros(numel(times), data.sizes.row), 'count', 0, 'piece', 0, 'last', NaN, ...
                 'pending', zeros(0, data.sizes.log_width), 'pace_times', NaN(data.sizes.guards, 3), ...
                 'quick', zeros(data.sizes.guards, 1), 'last_jump', -Inf, 'together', 0, 'last_mark', 0, ...
                 'kind', '', 'ended', options.start, 'message', '', 'events', [], 'begin', [], 'close', [], 'pieces', zeros(numel(times), 1));
    run.events = cell(0, 4);
end

function run = carry_out(data, run)
    s = data.statuses;
    [run.model, status] = prepare(data, run.model);
    run = deliver(run, now_of(data, run), present_row(data, run.model));
    run.begin = run.rows(1, 1:data.sizes.nq)';
    run.next = 2;
    if status == s.unsolved
        run = finish(data, run, 'failed', now_of(data, run), 'not_closed', '', 0, '', 0);
    elseif status ~= s.going
        run = explain(data, run, status);
    end
    finish_time = run.times(end);
    while isempty(run.kind) && (now_of(data, run) < finish_time || run.next <= numel(run.times))
        [run, status] = through(data, run, finish_time);
        if isempty(run.kind)
            run = look(data, run);
        end
        if ~isempty(run.kind) || status == s.going || status == s.budget || status == s.logged
            continue
        end
        while isempty(run.kind) && run.next <= numel(run.times) && run.times(run.next) <= now_of(data, run)
            [run, ignored] = through(data, run, now_of(data, run)); %#ok<ASGLU>
        end
        if isempty(run.kind)
            run = stop_run(data, run, status);
        end
    end
    if isempty(run.kind)
        run = finish(data, run, 'finished', now_of(data, run), '', '', 0, '', 0);
    end
end

function t = now_of(data, run)
    t = run.model.memory(data.sizes.at_t + 1);
end

function [run, status] = through(data, run, stop)
    last = min(run.next + data.sizes.samples - 2, numel(run.times));
    wanted = run.times(run.next:last);
    wanted = wanted(wanted <= stop);
    [run.model, status, rows, jumps] = march(data, run.model, wanted, stop);
    run.next = run.next + size(rows, 1);
    run.pending = [run.pending; jumps];
    [run, kept, sentence, text] = left_sample(data, run, wanted, rows);
    run = store(data, run, wanted(1:kept), rows(1:kept, :));
    if ~isempty(sentence) && isempty(run.kind)
        run = finish(data, run, 'failed', wanted(kept + 1), sentence, text, 0, '', 0);
    end
end

function run = store(data, run, times, rows)
    % delivers samples and the jumps between them; a jump waits until all samples before it are there
    n = data.sizes; following = Inf; most = Inf; k = 1;
    if run.next <= numel(run.times)
        following = run.times(run.next);
    end
    while size(run.pending, 1) > 0 && run.pending(1, 1) <= following && isempty(run.kind)
        row = run.pending(1, :);
        run.pending(1, :) = [];
        t = row(1); mark = data.marks(row(2) + 1);
        [run, counts] = jumped(data, run, row);
        if ~isempty(run.kind)
            most = t;
            if ~counts
                most = -Inf;
            end
        end
        cut = mark.jumps;
        if strcmp(data.kinds{mark.kind + 1}, 'impact')
            cut = any(row(5:4 + n.nc) ~= 0);
        end
        while k <= numel(times) && times(k) < t
            run = deliver(run, times(k), rows(k, :));
            k = k + 1;
        end
        if ~cut
            continue
        end
        run = deliver(run, t, row(4 + n.nc + 1:4 + n.nc + n.row));
        if counts
            run.piece = run.piece + 1; run.last = NaN;
            run = deliver(run, t, row(4 + n.nc + n.row + 1:4 + n.nc + 2 * n.row));
            while k <= numel(times) && times(k) <= t
                k = k + 1;
            end
        end
    end
    while k <= numel(times) && times(k) <= most
        run = deliver(run, times(k), rows(k, :));
        k = k + 1;
    end
end

function run = deliver(run, t, row)
    if run.last == t
        return
    end
    run.last = t;
    run.count = run.count + 1;
    run.t(run.count, 1) = t;
    run.rows(run.count, :) = row;
    run.pieces(run.count, 1) = run.piece;
end

function [run, kept, sentence, text] = left_sample(data, run, times, rows)
    % the number of samples before the first one whose coordinates mean nothing, and why
    n = data.sizes; kept = size(rows, 1); sentence = ''; text = ''; begun = run.begin; last = run.begin;
    if n.domains + n.gimbals == 0
        return
    end
    for k = 1:size(rows, 1)
        q = rows(k, 1:n.nq)';
        [sentence, text] = outside_domain(data, run, times(k), q, data.constants.domain_edge);
        if isempty(sentence)
            [sentence, text] = at_lock(data, q, data.constants.gimbal_edge, begun, last);
        end
        if ~isempty(sentence)
            kept = k - 1;
            return
        end
        run.begin = q; last = q;
    end
end

function [sentence, text] = outside_domain(data, run, t, q, edge)
    sentence = ''; text = '';
    if data.sizes.domains == 0
        return
    end
    values = simulator_arguments(t, q, run.model.p);
    for k = 1:numel(values)
        own = data.domains(k); value = values(k); inner = edge * own.steep;
        if ~(value >= own.low + inner && value <= own.high - inner)
            sentence = own.sentence; text = sprintf('%.9g', value);
            if ~isfinite(value)
                text = 'not a number';
            elseif isfinite(own.high) && value >= own.low && value <= own.high
                text = [text, ', where the domain ends'];
            end
            return
        end
    end
end

function [sentence, text] = at_lock(data, q, edge, begun, last)
    sentence = ''; text = '';
    for k = 1:data.sizes.gimbals
        own = data.gimbals(k); j = own.second + 1; turns = (q(j) - own.angle) / pi;
        near = abs(turns - round(turns)) * pi < edge && eps * abs(q(j)) < edge;
        passed = ~isempty(begun) && floor(turns) ~= floor((begun(j) - own.angle) / pi);
        if near || passed
            sentence = own.sentence;
            text = sprintf('%.6g', (own.angle + pi * round((last(j) - own.angle) / pi)) * 180 / pi);
            return
        end
    end
end

function run = ends_near(data, run, domains)
    % ends a run that has failed or diverges where its coordinates end
    n = data.sizes; t = now_of(data, run); row = present_row(data, run.model)'; q = row(1:n.nq); sentence = '';
    if domains
        h = run.model.memory(n.at_h + 1); after = q;
        if n.nq == n.nv
            after = q + h * row(n.nq + 1:n.nq + n.nv);
        end
        [sentence, text] = outside_domain(data, run, t, q, data.constants.domain_near);
        if isempty(sentence)
            [sentence, text] = outside_domain(data, run, t + h, after, 0);
        end
    end
    if isempty(sentence)
        [sentence, text] = at_lock(data, q, data.constants.gimbal_near, [], q);
    end
    if ~isempty(sentence)
        run = finish(data, run, 'failed', t, sentence, text, 0, '', 0);
    end
end

function run = report(data, run, t, index, kind, lost)
    run.last_mark = index;
    run.events(end + 1, :) = {t, data.marks(index).name, kind, lost};
end

function [run, counts] = jumped(data, run, row)
    t = row(1); index = row(2) + 1; mark = data.marks(index); kind = data.kinds{mark.kind + 1}; counts = true;
    if strcmp(kind, 'impact') && ~any(row(5:4 + data.sizes.nc) ~= 0)
        kind = 'switch';
    end
    if mark.least > 0
        [run, rest, last] = rest_time(data, run, index, t);
        if ~isnan(rest)
            run = report(data, run, rest, index, 'rest', 0);
            run = finish(data, run, 'rest', rest, 'comes_to_rest', mark.name, 0, '', last);
            counts = false;
            return
        end
    end
    run = report(data, run, t, index, kind, row(4));
    if row(3) == 0 && mark.stays
        run = report(data, run, t, index, 'rest', 0);
        run = finish(data, run, 'rest', t, 'stays_at_zero', mark.name, 0, '', 0);
        return
    end
    if t - run.last_jump < data.constants.resolution
        run.together = run.together + 1;
    else
        run.together = 0;
    end
    run.last_jump = t;
    if run.together >= data.constants.most_switches
        run = finish(data, run, 'failed', t, 'endless', mark.name, 0, '', 0);
    end
end

function [run, rest, last] = rest_time(data, run, index, t)
    mark = data.marks(index); rest = NaN;
    times = [run.pace_times(index, 2:3), t];
    run.pace_times(index, :) = times;
    last = times(3) - times(2);
    if isnan(last)
        return
    elseif mark.least == 1 && last < data.constants.resolution
        rest = t;
        return
    end
    before = times(2) - times(1);
    if isnan(before)
        return
    end
    if last < mark.shortest
        run.quick(index) = run.quick(index) + 1;
    else
        run.quick(index) = 0;
    end
    quick = run.quick(index);
    if quick < mark.least || (last > before && quick < data.constants.most_quick)
        return
    end
    share = 0;
    if before > 0
        share = last / before;
    end
    rest = t;
    if share < 1
        rest = t + last * share / (1 - share);
    end
end

function run = stop_run(data, run, status)
    s = data.statuses; t = now_of(data, run);
    if status ~= s.stopped && status ~= s.enough
        run = explain(data, run, status);
        return
    end
    mark = data.marks(run.last_mark);
    if ~mark.jumps && ~strcmp(data.kinds{mark.kind + 1}, 'switch')
        run = deliver(run, t, present_row(data, run.model));
    end
    if status == s.stopped
        run = finish(data, run, 'stopped', t, 'stopped_by', mark.name, 0, '', 0);
    elseif size(run.events, 1) == 1
        run = finish(data, run, 'stopped', t, 'stopped_after_one', '', 0, '', 0);
    else
        run = finish(data, run, 'stopped', t, 'stopped_after', '', 0, '', 0);
    end
end

function run = look(data, run)
    n = data.sizes;
    if ~data.constants.robot || n.nv == 0
        return
    end
    v = run.model.memory(n.at_s + n.nv + 1:n.at_s + 2 * n.nv);
    [most, worst] = max(abs(v));
    if most > data.constants.senseless
        run = ends_near(data, run, false);
        if ~isempty(run.kind)
            return
        end
        run = finish(data, run, 'failed', now_of(data, run), 'diverges', data.variables{n.nv + worst}, v(worst), ...
                     data.columns{n.nq + worst, 2}, 0);
    elseif n.gimbals > 0 && ~data.constants.fixed
        run = look_at_gimbals(data, run);
    end
end

function run = look_at_gimbals(data, run)
    % ends a run whose steps dwindle because a gimbal comes to its singular angle
    n = data.sizes; t = now_of(data, run); row = present_row(data, run.model)'; q = row(1:n.nq);
    steps = run.model.memory(n.at_accepted + 1) + run.model.memory(n.at_rejected + 1);
    [sentence, text] = at_lock(data, q, data.constants.gimbal_near, [], q);
    if isempty(sentence)
        run.close = [];
    elseif isempty(run.close)
        run.close = [t, steps];
    elseif (steps - run.close(2)) * (run.times(end) - run.times(1)) > data.constants.hopeless * (t - run.close(1))
        run = finish(data, run, 'failed', t, sentence, text, 0, '', 0);
    end
end

function run = explain(data, run, status)
    n = data.sizes; s = data.statuses; t = now_of(data, run);
    if status == s.tick
        run.model.ready = false;
        [run.model, ignored] = prepare(data, run.model); %#ok<ASGLU>
        m = run.model.memory(n.at_m_next + 1:n.at_m_next + n.nm);
        k = find(~isfinite(m), 1);
        name = data.columns{n.row - n.nm + k, 1};
        run = finish(data, run, 'failed', t, 'not_sampled', name(3:end), m(k), data.owners{k}, 0);
        return
    end
    if n.user
        trouble = simulator_trouble();
        if ~isempty(trouble)
            run = finish(data, run, 'failed', t, 'user_not_finite', trouble, 0, '', 0);
            return
        end
    end
    run = ends_near(data, run, true);
    if ~isempty(run.kind)
        return
    end
    m = run.model.memory;
    state = m(n.at_s + 1:n.at_s + n.ns);
    rate = simulator_rate(t, m(n.at_base + 1:n.at_base + n.nq), state, m(n.at_m_next + 1:n.at_m_next + n.nm), ...
                          run.model.u, run.model.p);
    growth = abs(rate) ./ (1 + abs(state));
    growth(cellfun(@isempty, data.variables)) = -1;
    [ignored, first] = max(growth); %#ok<ASGLU>
    bad = find(~isfinite(rate), 1);
    sentence = 'too_short';
    if ~isempty(bad) && all(abs(state) < data.constants.run_away)
        sentence = 'rate_not_finite'; first = bad;
    elseif status == s.lost
        sentence = 'lost';
    elseif status == s.breach
        sentence = 'breaks_constraints';
    elseif ~isempty(data.sentences.impulses_not_found) && ~all(isfinite(state(n.nv + 1:2 * n.nv)))
        sentence = 'impulses_not_found';
    elseif status == s.infinite
        sentence = 'not_finite';
    elseif status == s.unsolved
        sentence = 'unsolved';
    elseif abs(state(first)) > data.constants.far
        sentence = 'grows';
    end
    run = finish(data, run, 'failed', t, sentence, data.variables{first}, state(first), '', 0);
end

function run = finish(data, run, kind, t, sentence, name, value, unit, last)
    run.kind = kind; run.ended = t; run.message = '';
    if isempty(sentence)
        return
    end
    h = run.model.memory(data.sizes.at_h + 1);
    gaps = {sprintf('%.9g', t), name, sprintf('%.3g', value), sprintf('%g', h), sprintf('%g', h / 10), ...
            sprintf('%.2g', last), unit, sprintf('%d', size(run.events, 1))};
    text = sentence;
    if isfield(data.sentences, sentence)
        text = data.sentences.(sentence);
    end
    for k = 1:numel(text)
        if double(text(k)) >= 1 && double(text(k)) <= 8
            run.message = [run.message, gaps{double(text(k))}];
        else
            run.message = [run.message, text(k)];
        end
    end
end

% ---- files -----------------------------------------------------------------------------------------------------------

function write_files(data, options, run)
    if ~isempty(options.output)
        file = opened(options.output);
        fprintf(file, '%s\n', data.header);
        form = ['%.17g', repmat(',%.17g', 1, data.sizes.row), '\n'];
        for k = 1:run.count
            fprintf(file, form, run.t(k), run.rows(k, :));
        end
        fclose(file);
    end
    if ~isempty(options.events)
        file = opened(options.events);
        fprintf(file, 't [s],event,kind,energy_loss [J]\n');
        for k = 1:size(run.events, 1)
            name = strrep(run.events{k, 2}, '"', '""');
            fprintf(file, '%.17g,"%s",%s,%.17g\n', run.events{k, 1}, name, run.events{k, 3}, run.events{k, 4});
        end
        fclose(file);
    end
end

function file = opened(path)
    file = fopen(path, 'w');
    if file < 0
        error('''%s'' cannot be written. Choose another file.', path);
    end
end
