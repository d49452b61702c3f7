/* The command line of the program. Samples go to a file or to the standard output, messages to the standard error. */
#include "simulator_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator_model.h"
#if SIMULATOR_SCENE
#include "simulator_scene.h"
#endif

#define WELL 0
#define FAILED 1
#define BAD_INPUT 2
#define GO_ON (-1)
#define LONGEST 4096 /* characters of a message */

static simulator SIMULATED; /* large; not on the stack */

static void print_help(void)
{
    printf("%s by '%s': a run from t = %g s to t = %g s.\n\n", simulator_model_name, simulator_method, SIMULATOR_START,
           SIMULATOR_UNTIL);
    printf("  --until T           the end of the run [s]\n"
           "  --start T           its start [s]\n"
           "  --output-step DT    the time between samples [s]\n"
           "  --step H            the size of all steps [s]%s\n"
           "  --rtol X, --atol X  tolerances of the steps%s\n"
           "  --max-step H        the longest step that the method may choose [s]\n"
           "  --most-events N     ends the run after so many events\n"
           "  --set NAME=VALUE    sets a state, an input or a parameter; may be repeated, --list shows all names\n"
           "  --output FILE       writes the samples to a file instead of the standard output\n"
           "  --events FILE       writes the events to a file\n"
           "  --res FILE          writes t, q, v, a of each degree of freedom, u and x for gnuplot, with a script .plt\n"
           "  --van FILE          writes frames for EasyDyn's viewer to FILE.van, and shapes to FILE.vol%s\n"
           "  --quiet             prints no message about a run that ends well\n"
           "  --list              lists names, values and units\n",
           SIMULATOR_FIXED ? "" : " (this program chooses its steps)",
           SIMULATOR_FIXED ? " (this program has constant steps)" : "",
           SIMULATOR_SCENE ? "" : " (this program has no shapes)");
}

static void print_list(const simulator *s)
{
    for (int k = 0; k < SIMULATOR_COLUMNS; ++k) {
        printf("%s = %.17g %s\n", simulator_names[k], simulator_get(s, k), simulator_units[k]);
    }
}

/* Reads a whole text as a finite number; returns whether it is one. */
static int read_number(const char *text, double *number)
{
    char *rest;
    *number = strtod(text, &rest);
    return rest != text && *rest == '\0' && isfinite(*number);
}

/* Reads the value of an option that has to be a number above `least`; returns whether it is one, or says that not. */
static int read_option(const char *option, const char *text, double least, double *number)
{
    if (read_number(text, number) && *number > least) return 1;
    fprintf(stderr, "error: %s is '%s'; expected a number%s.\n", option, text, least < 0.0 ? "" : " above 0");
    return 0;
}

/* Carries out --set NAME=VALUE; returns whether it could. */
static int set_value(const char *text, simulator_options *options, simulator *s)
{
    const char *sign = strrchr(text, '=');
    double value;
    if (!sign || !read_number(sign + 1, &value)) {
        fprintf(stderr, "error: --set is '%s'; expected NAME=VALUE with a number, such as %s=0.5.\n", text,
                SIMULATOR_COLUMNS > 0 ? simulator_names[0] : "q.joint");
        return 0;
    }
    for (int k = 0; k < SIMULATOR_COLUMNS; ++k) {
        const size_t length = strlen(simulator_names[k]);
        if (length != (size_t)(sign - text) || strncmp(simulator_names[k], text, length) != 0) continue;
        if (simulator_set(s, k, value) != 0) {
            fprintf(stderr, "error: --set is '%s'; memory of elements cannot be set, they sample it. Set a state.\n",
                    text);
            return 0;
        }
        options->given[k] = 1;
        options->values[k] = value;
        return 1;
    }
    fprintf(stderr, "error: --set is '%s'; %s has no such name. --list shows all names.\n", text,
            simulator_model_name);
    return 0;
}

/* Whether the name of a file ends in .van, or says that not. */
static int ends_in_van(const char *path)
{
    const size_t length = strlen(path);
    if (length > 4 && length < LONGEST && strcmp(path + length - 4, ".van") == 0) return 1;
    fprintf(stderr, "error: --van is '%s'; expected the name of a file that ends in .van.\n", path);
    return 0;
}

int simulator_read_options(int argc, char **argv, simulator_options *options, simulator *s, simulator_plan *plan)
{
    int listed = 0;
    memset(options, 0, sizeof *options);
    simulator_init(s);
    simulator_usual_plan(plan);
    options->start = SIMULATOR_START;
    for (int k = 1; k < argc; ++k) {
        const char *option = argv[k], *text = k + 1 < argc ? argv[k + 1] : NULL;
        double number = 0.0;
        int good = 1;
        if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
            print_help();
            return WELL;
        }
        if (strcmp(option, "--list") == 0 || strcmp(option, "--quiet") == 0) {
            if (option[2] == 'l') listed = 1;
            else options->quiet = 1;
            continue;
        }
        if (!text) {
            fprintf(stderr, "error: '%s' is no option, or has no value. --help lists the options.\n", option);
            return BAD_INPUT;
        }
        ++k;
        if (strcmp(option, "--until") == 0) {
            good = read_option(option, text, -INFINITY, &plan->until);
        } else if (strcmp(option, "--start") == 0) {
            good = read_option(option, text, -INFINITY, &options->start);
        } else if (strcmp(option, "--output-step") == 0) {
            good = read_option(option, text, 0.0, &plan->spacing);
            plan->times = NULL;
        } else if (strcmp(option, "--most-events") == 0) {
            good = read_option(option, text, 0.0, &plan->most_events);
        } else if (strcmp(option, "--max-step") == 0) {
            good = read_option(option, text, 0.0, &s->limits[3]);
        } else if (strcmp(option, "--set") == 0) {
            good = set_value(text, options, s);
        } else if (strcmp(option, "--output") == 0) {
            options->output = text;
        } else if (strcmp(option, "--events") == 0) {
            options->events = text;
        } else if (strcmp(option, "--res") == 0 && SIMULATOR_CURVES > 0) {
            options->res = text;
        } else if (strcmp(option, "--res") == 0) {
            fprintf(stderr, "error: --res has q, its rate and its acceleration for each degree of freedom; coordinates of "
                            "%s are not of this kind. Use --output.\n", simulator_model_name);
            return BAD_INPUT;
        } else if (strcmp(option, "--van") == 0 && SIMULATOR_SCENE) {
            good = ends_in_van(text);
            options->van = text;
        } else if (strcmp(option, "--van") == 0) {
            fprintf(stderr, "error: --van has no effect: this program has no shapes. Write it again with its scene.\n");
            return BAD_INPUT;
        } else if (strcmp(option, "--step") == 0 && SIMULATOR_FIXED) {
            good = read_option(option, text, 0.0, &number);
            if (good) simulator_set_step(s, number);
        } else if (strcmp(option, "--rtol") == 0 && !SIMULATOR_FIXED) {
            good = read_option(option, text, 0.0, &s->limits[0]);
        } else if (strcmp(option, "--atol") == 0 && !SIMULATOR_FIXED) {
            good = read_option(option, text, 0.0, &s->limits[1]);
        } else if (strcmp(option, "--step") == 0 || strcmp(option, "--rtol") == 0 || strcmp(option, "--atol") == 0) {
            fprintf(stderr, "error: %s has no effect: %s. Write the program again for another method.\n", option,
                    SIMULATOR_FIXED ? "all steps have the same size" : "the method chooses its steps");
            return BAD_INPUT;
        } else {
            fprintf(stderr, "error: '%s' is no option. --help lists the options.\n", option);
            return BAD_INPUT;
        }
        if (!good) return BAD_INPUT;
    }
    simulator_set_time(s, options->start);
    if (listed) {
        print_list(s);
        return WELL;
    }
    if (!(plan->until > options->start)) {
        fprintf(stderr, "error: --until is %g s and --start %g s; expected an end after the start.\n", plan->until,
                options->start);
        return BAD_INPUT;
    }
    return GO_ON;
}

/* ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static FILE *opened(const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file) fprintf(stderr, "error: '%s' cannot be written. Choose another file.\n", path);
    return file;
}

#if SIMULATOR_CURVES > 0
/* Writes a text between single quotes, in which gnuplot doubles them. */
static void write_quoted(FILE *file, const char *text)
{
    fputc('\'', file);
    for (; *text; ++text) {
        if (*text == '\'') fputc('\'', file);
        fputc(*text, file);
    }
    fputc('\'', file);
}

/* Writes the plot of `count` columns of one kind, from column `first` on, every `step`; gnuplot pauses after it. */
static void write_plot(FILE *script, const char *path, const char *kind, int first, int step, int count)
{
    for (int k = 0; k < count; ++k) {
        fputs(k ? ", \\\n     " : "plot ", script);
        write_quoted(script, path);
        fprintf(script, " using 1:%d with lines title ", first + step * k);
        write_quoted(script, simulator_curves[first - 2 + step * k]);
    }
    if (count) fprintf(script, "\nif (!exists(\"postscript\")) pause -1 '%s: press Enter to continue'\n", kind);
}

/* Opens the file for gnuplot, and writes the script that plots it; returns whether it could. */
static int open_res(simulator_files *files, const char *path)
{
    char name[LONGEST];
    FILE *script;
    size_t stem = strlen(path);
    if (stem + 4 >= sizeof name) return 0;
    if (stem > 4 && strcmp(path + stem - 4, ".res") == 0) stem -= 4;
    memcpy(name, path, stem);
    strcpy(name + stem, ".plt");
    files->res = opened(path);
    script = files->res ? opened(name) : NULL;
    if (!script) return 0;
    fprintf(files->res, "# t [s]");
    for (int k = 0; k < SIMULATOR_CURVES; ++k) fprintf(files->res, "  %s", simulator_curves[k]);
    fprintf(files->res, "\n");
    fprintf(script, "# Plots: gnuplot FILE.plt. As PostScript: gnuplot -e \"postscript=1\" FILE.plt\n"
                    "set xlabel 't [s]'\nset key noenhanced\n"
                    "if (exists(\"postscript\")) set terminal postscript color\nif (exists(\"postscript\")) set output ");
    strcpy(name + stem, ".ps");
    write_quoted(script, name);
    fputc('\n', script);
    write_plot(script, path, "coordinates q", 2, 3, SIMULATOR_NV);
    write_plot(script, path, "velocities v", 3, 3, SIMULATOR_NV);
    write_plot(script, path, "accelerations a", 4, 3, SIMULATOR_NV);
    write_plot(script, path, "inputs u", 2 + 3 * SIMULATOR_NV, 1, SIMULATOR_NU);
    write_plot(script, path, "states x", 2 + 3 * SIMULATOR_NV + SIMULATOR_NU, 1, SIMULATOR_CURVES - 3 * SIMULATOR_NV - SIMULATOR_NU);
    return fclose(script) == 0;
}
#endif

#if SIMULATOR_SCENE
/* Opens the files of frames and of shapes, of which the first has the name `path`; returns whether it could. */
static int open_scene(simulator_files *files, const char *path)
{
    char name[LONGEST];
    strcpy(name, path);
    strcpy(name + strlen(name) - 4, ".vol");
    files->van = opened(path);
    files->vol = files->van ? opened(name) : NULL;
    return files->vol != NULL;
}
#endif

int simulator_open_files(simulator_files *files, const simulator_options *options, const simulator *s)
{
    memset(files, 0, sizeof *files);
    files->model = s;
    files->options = options;
    files->samples = options->output ? opened(options->output) : stdout;
    if (!files->samples) return BAD_INPUT;
    if (options->events) {
        files->events = opened(options->events);
        if (!files->events) return BAD_INPUT;
        fprintf(files->events, "t [s],event,kind,energy_loss [J]\n");
    }
#if SIMULATOR_CURVES > 0
    if (options->res && !open_res(files, options->res)) return BAD_INPUT;
#endif
#if SIMULATOR_SCENE
    if (options->van && !open_scene(files, options->van)) return BAD_INPUT;
#endif
    fprintf(files->samples, "%s\n", simulator_header);
    return WELL;
}

#if SIMULATOR_CURVES > 0
/* Writes t, then q, its rate and its acceleration for each degree of freedom, then inputs and further states. */
static void write_res(const simulator_files *files, double t, const double *row)
{
    const simulator *model = files->model;
    double s[SIMULATOR_ROOM(SIMULATOR_NS)] = {0.0}, rate[SIMULATOR_ROOM(SIMULATOR_NS)] = {0.0};
    for (int k = 0; k < SIMULATOR_NV + SIMULATOR_NX; ++k) s[SIMULATOR_NV + k] = row[SIMULATOR_NQ + k];
    simulator_rate(&t, row, s, row + SIMULATOR_ROW - SIMULATOR_NM, model->u, model->p, rate);
    fprintf(files->res, "%.17g", t);
    for (int k = 0; k < SIMULATOR_NV; ++k) {
        fprintf(files->res, " %.17g %.17g %.17g", row[k], row[SIMULATOR_NQ + k], rate[SIMULATOR_NV + k]);
    }
    for (int k = 0; k < SIMULATOR_NU; ++k) fprintf(files->res, " %.17g", model->u[k]);
    for (int k = 0; k < SIMULATOR_NX; ++k) fprintf(files->res, " %.17g", row[SIMULATOR_NQ + SIMULATOR_NV + k]);
    fputc('\n', files->res);
}
#endif

void simulator_write_sample(void *sink, double t, const double *row, int piece)
{
    simulator_files *files = (simulator_files *)sink;
    const simulator_options *options = files->options;
    (void)piece;
    for (int k = 0; files->rows == 0 && k < SIMULATOR_ROW; ++k) { /* the first sample is on the constraints */
        if (options->given[k] && fabs(row[k] - options->values[k]) > 1e-9 * (1.0 + fabs(row[k]))) {
            fprintf(stderr, "note: %s is %.9g and not %.9g, so that the state satisfies the constraints.\n",
                    simulator_names[k], row[k], options->values[k]);
        }
    }
    files->rows += 1;
    fprintf(files->samples, "%.17g", t);
    for (int k = 0; k < SIMULATOR_ROW; ++k) fprintf(files->samples, ",%.17g", row[k]);
    fputc('\n', files->samples);
#if SIMULATOR_CURVES > 0
    if (files->res) write_res(files, t, row);
#endif
#if SIMULATOR_SCENE
    if (files->vol && files->rows == 1) simulator_write_shapes(files->vol, files->model, t, row);
    if (files->van) simulator_write_frame(files->van, files->model, t, row);
#endif
}

void simulator_write_event(void *sink, double t, const char *name, const char *kind, double lost)
{
    simulator_files *files = (simulator_files *)sink;
    if (!files->events) return;
    fprintf(files->events, "%.17g,\"", t);
    for (; *name; ++name) {
        if (*name == '"') fputc('"', files->events);
        fputc(*name, files->events);
    }
    fprintf(files->events, "\",%s,%.17g\n", kind, lost);
}

/* Closes a file; returns whether all of it was written. */
static int closed(FILE *file)
{
    const int good = !ferror(file);
    return (file == stdout ? fflush(file) : fclose(file)) == 0 && good;
}

int simulator_close_files(simulator_files *files, const char *kind, double t, long events, const char *message)
{
    int good = closed(files->samples);
    if (files->events) good = closed(files->events) && good;
    if (files->res) good = closed(files->res) && good;
    if (files->van) good = closed(files->van) && good;
    if (files->vol) good = closed(files->vol) && good;
    if (!good) {
        fprintf(stderr, "error: the results could not be written in full. Look for room on the disk.\n");
        return FAILED;
    }
    if (strcmp(kind, "failed") == 0) {
        fprintf(stderr, "failed: %s\n", message);
        return FAILED;
    }
    if (files->options->quiet) return WELL;
    fprintf(stderr, "%s at t = %.9g s: %ld steps accepted, %ld rejected, %ld events, %ld samples.%s%s\n", kind, t,
            simulator_accepted(files->model), simulator_rejected(files->model), events, files->rows, message[0] ? " " : "", message);
    return WELL;
}

int simulator_program(int argc, char **argv)
{
    simulator_options options;
    simulator_plan plan;
    simulator_outcome outcome;
    simulator_files files;
    char message[LONGEST];
    int code = simulator_read_options(argc, argv, &options, &SIMULATED, &plan);
    if (code != GO_ON) return code;
    code = simulator_open_files(&files, &options, &SIMULATED);
    if (code != WELL) return code;
    plan.sample = simulator_write_sample;
    plan.event = simulator_write_event;
    plan.sink = &files;
    simulator_run(&SIMULATED, &plan, &outcome);
    simulator_message(&outcome, message, LONGEST);
    return simulator_close_files(&files, outcome.kind, outcome.t, outcome.events, message);
}
