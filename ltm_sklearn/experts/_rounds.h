/* The rounds of LongTermMemory and of Share-theta, fused. _long_term_memory.py and _trackers.py are their definition.

   All rows have `stride` doubles, the number of experts rounded up to four and padded with zeros, so that every loop
   is vectors only. Kept in the linear domain: potentials and weights have floors, so nothing underflows. */

#ifndef LTM_ROUNDS_H
#define LTM_ROUNDS_H

#include <math.h>
#include <stddef.h>

#define CELLS 3 /* Share-theta cells in a bundle */

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif
#if defined(__GNUC__) && defined(__x86_64__)
#define HAS_AVX2 (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#define TARGET_AVX2 __attribute__((target("avx2,fma")))
#else
#define HAS_AVX2 0
#define TARGET_AVX2
#endif
/* Rows never overlap; compilers cannot see that through so many pointers. */
#if defined(__clang__)
#define VECTORS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define VECTORS _Pragma("GCC ivdep")
#else
#define VECTORS
#endif

typedef struct {
    /* sizes */
    ptrdiff_t n_experts, stride, n_rates, n_bundles, n_trackers; /* n_trackers = 2 n_bundles: mixtures, then sharpened */
    double rounds, horizon;                                      /* horizon 0: none */
    /* constants */
    const double *rates;                   /* [n_rates] */
    const double *switching, *memory;      /* [CELLS] alpha, and the least theta */
    const double *memory_follows;          /* [CELLS] 1 where theta is at least 1/(t + 2) */
    double first_rate, potential_floor, belief_floor, weight_floor;
    /* state */
    double *prior;                         /* [stride] of a model's cell */
    double *potential, *confidence;        /* [n_rates][stride] */
    double *tracker_prior, *tracker_potential; /* [n_rates][n_trackers] */
    double *belief;                        /* [n_bundles][CELLS] */
    double *tracked, *remembered;          /* [n_bundles][CELLS][stride] */
    /* derived from the state after each round */
    double *tracker_weights;               /* [n_trackers][stride]: mixtures; their eighth powers, to be multiplied by */
    double *scale;                         /* [n_bundles] */
    double *played;                        /* [stride] */
    /* scratch */
    double *losses, *regret, *share, *likelihood; /* [stride] */
    double *tracker_share, *tracker_regret; /* [n_trackers] */
} ltm_memory;

/* exp(-x) for 0 <= x <= 1/16: the series to degree 9 is exact to the last bit or two. */
INLINE double exp_minus_small(double x)
{
    double y = 1.0 / 362880.0;
    y = 1.0 / 40320.0 - x * y;
    y = 1.0 / 5040.0 - x * y;
    y = 1.0 / 720.0 - x * y;
    y = 1.0 / 120.0 - x * y;
    y = 1.0 / 24.0 - x * y;
    y = 1.0 / 6.0 - x * y;
    y = 0.5 - x * y;
    y = 1.0 - x * y;
    return 1.0 - x * y;
}

/* What is played next: sum_j rate_j W z for models, trackers' shares spread by their weights. */
INLINE void ltm_combine(ltm_memory *m)
{
    const ptrdiff_t n = 4 * (m->stride / 4);
    double *restrict share = m->share, *restrict played = m->played;
    double total = 0.0;
    VECTORS
    for (ptrdiff_t i = 0; i < n; i++) total += share[i];
    for (ptrdiff_t g = 0; g < m->n_trackers; g++) total += m->tracker_share[g];
    const double inverse = 1.0 / total;
    VECTORS
    for (ptrdiff_t i = 0; i < n; i++) played[i] = share[i] * inverse;
    for (ptrdiff_t b = 0; b < m->n_bundles; b++) {
        const ptrdiff_t s = m->n_bundles + b;
        const double part = m->tracker_share[b] * inverse, sharp_part = m->tracker_share[s] * m->scale[b] * inverse;
        const double *restrict mixture = m->tracker_weights + b * n, *restrict sharp = m->tracker_weights + s * n;
        VECTORS
        for (ptrdiff_t i = 0; i < n; i++) played[i] += part * mixture[i] + sharp_part * sharp[i];
    }
}

INLINE void ltm_learn(ltm_memory *m, double mixture_loss)
{
    const ptrdiff_t n = 4 * (m->stride / 4), n_trackers = m->n_trackers;
    const double *restrict losses = m->losses;
    double *restrict regret = m->regret, *restrict share = m->share;
    const double *restrict prior = m->prior;
    const double gamma = 1.0 / (m->horizon > 0.0 ? m->horizon : m->rounds + 3.0);

    VECTORS
    for (ptrdiff_t i = 0; i < n; i++) {
        regret[i] = mixture_loss - losses[i];
        share[i] = 0.0;
    }
    for (ptrdiff_t j = 0; j < m->n_rates; j++) {
        const double rate = m->rates[j], floor = m->potential_floor;
        double *restrict potential = m->potential + j * n, *restrict confidence = m->confidence + j * n;
        VECTORS
        for (ptrdiff_t i = 0; i < n; i++) {
            const double r = regret[i], z = confidence[i];
            const double grown = potential[i] * (1.0 + rate * z * r), least = floor * prior[i];
            const double w = grown > least ? grown : least;
            const double a = z * (1.0 + rate * (r - rate * fabs(r)));
            const double next = (1.0 - gamma) * a / (a + 1.0 - z) + 0.5 * gamma;
            potential[i] = w;
            confidence[i] = next;
            share[i] += rate * w * next;
        }
    }
    for (ptrdiff_t b = 0; b < m->n_bundles; b++) {
        const double *restrict mixture = m->tracker_weights + b * n;
        const double *restrict sharp = m->tracker_weights + (m->n_bundles + b) * n;
        double loss = 0.0, sharp_loss = 0.0;
        VECTORS
        for (ptrdiff_t i = 0; i < n; i++) {
            loss += mixture[i] * losses[i];
            sharp_loss += sharp[i] * losses[i];
        }
        m->tracker_regret[b] = mixture_loss - loss;
        m->tracker_regret[m->n_bundles + b] = mixture_loss - m->scale[b] * sharp_loss;
    }
    const double *restrict tracker_regret = m->tracker_regret;
    double *restrict tracker_share = m->tracker_share;
    VECTORS
    for (ptrdiff_t g = 0; g < n_trackers; g++) tracker_share[g] = 0.0;
    for (ptrdiff_t j = 0; j < m->n_rates; j++) {
        const double rate = m->rates[j], floor = m->potential_floor;
        double *restrict potential = m->tracker_potential + j * n_trackers;
        const double *restrict tracker_prior = m->tracker_prior + j * n_trackers;
        VECTORS
        for (ptrdiff_t g = 0; g < n_trackers; g++) {
            const double grown = potential[g] * (1.0 + rate * tracker_regret[g]), least = floor * tracker_prior[g];
            const double w = grown > least ? grown : least;
            potential[g] = w;
            tracker_share[g] += rate * w;
        }
    }
}

INLINE void ltm_track(ltm_memory *m)
{
    const ptrdiff_t n = 4 * (m->stride / 4);
    const double *restrict losses = m->losses;
    double *restrict likelihood = m->likelihood;
    double theta[CELLS];
    for (int c = 0; c < CELLS; c++) {
        const double mean_of_past = m->memory_follows[c] / (m->rounds + 3.0);
        theta[c] = m->memory[c] > mean_of_past ? m->memory[c] : mean_of_past;
    }
    VECTORS
    for (ptrdiff_t i = 0; i < n; i++) {
        /* exp(-x) = exp(-x/8)^8, so that the series is needed on a short interval only */
        const double root = exp_minus_small(m->first_rate * losses[i] * 0.125), two = root * root, four = two * two;
        likelihood[i] = four * four;
    }
    for (ptrdiff_t i = m->n_experts; i < n; i++) likelihood[i] = 0.0; /* or the padding would be the best expert */
    for (ptrdiff_t b = 0; b < m->n_bundles; b++) {
        double *restrict w0 = m->tracked + b * CELLS * n, *restrict w1 = m->tracked + (b * CELLS + 1) * n, *restrict w2 = m->tracked + (b * CELLS + 2) * n;
        double *restrict v0 = m->remembered + b * CELLS * n, *restrict v1 = m->remembered + (b * CELLS + 1) * n, *restrict v2 = m->remembered + (b * CELLS + 2) * n;
        double *restrict mixture = m->tracker_weights + b * n;
        double *restrict sharp = m->tracker_weights + (m->n_bundles + b) * n;
        double *restrict belief = m->belief + b * CELLS;
        double e0 = 0.0, e1 = 0.0, e2 = 0.0, total = 0.0;
        VECTORS
        for (ptrdiff_t i = 0; i < n; i++) {
            e0 += w0[i] * likelihood[i];
            e1 += w1[i] * likelihood[i];
            e2 += w2[i] * likelihood[i];
        }
        const double evidence[CELLS] = {e0, e1, e2};
        double keep[CELLS]; /* (1 - alpha) / evidence */
        for (int c = 0; c < CELLS; c++) total += belief[c] *= evidence[c];
        double floored = 0.0;
        for (int c = 0; c < CELLS; c++) {
            belief[c] /= total;
            if (belief[c] < m->belief_floor) belief[c] = m->belief_floor;
            floored += belief[c];
        }
        for (int c = 0; c < CELLS; c++) {
            belief[c] /= floored;
            keep[c] = (1.0 - m->switching[c]) / evidence[c];
        }
        const double k0 = keep[0], k1 = keep[1], k2 = keep[2], q0 = belief[0], q1 = belief[1], q2 = belief[2];
        const double a0 = m->switching[0], a1 = m->switching[1], a2 = m->switching[2];
        const double f0 = 1.0 - theta[0], f1 = 1.0 - theta[1], f2 = 1.0 - theta[2];
        const double t0 = theta[0] / e0, t1 = theta[1] / e1, t2 = theta[2] / e2, floor = m->weight_floor;
        double sum = 0.0;
        VECTORS
        for (ptrdiff_t i = 0; i < n; i++) {
            const double l = likelihood[i];
            const double p0 = w0[i] * l, p1 = w1[i] * l, p2 = w2[i] * l; /* posteriors, before scaling */
            const double n0 = k0 * p0 + a0 * v0[i], n1 = k1 * p1 + a1 * v1[i], n2 = k2 * p2 + a2 * v2[i];
            const double u0 = f0 * v0[i] + t0 * p0, u1 = f1 * v1[i] + t1 * p1, u2 = f2 * v2[i] + t2 * p2;
            const double mixed = q0 * n0 + q1 * n1 + q2 * n2;
            const double two = mixed * mixed, four = two * two, eight = four * four;
            w0[i] = n0;
            w1[i] = n1;
            w2[i] = n2;
            v0[i] = u0 > floor ? u0 : floor;
            v1[i] = u1 > floor ? u1 : floor;
            v2[i] = u2 > floor ? u2 : floor;
            mixture[i] = mixed;
            sharp[i] = eight;
            sum += eight;
            likelihood[i] = l * l; /* the next rate is twice this one */
        }
        m->scale[b] = 1.0 / sum;
    }
}

/* Derive shares, trackers' weights and what is played from the state, before the first round. */
static void ltm_prepare(ltm_memory *m)
{
    const ptrdiff_t n = m->stride;
    VECTORS
    for (ptrdiff_t i = 0; i < n; i++) {
        m->share[i] = 0.0;
        for (ptrdiff_t j = 0; j < m->n_rates; j++)
            m->share[i] += m->rates[j] * m->potential[j * n + i] * m->confidence[j * n + i];
    }
    for (ptrdiff_t g = 0; g < m->n_trackers; g++) {
        m->tracker_share[g] = 0.0;
        for (ptrdiff_t j = 0; j < m->n_rates; j++)
            m->tracker_share[g] += m->rates[j] * m->tracker_potential[j * m->n_trackers + g];
    }
    for (ptrdiff_t b = 0; b < m->n_bundles; b++) {
        double sum = 0.0;
        VECTORS
        for (ptrdiff_t i = 0; i < n; i++) {
            double mixed = 0.0;
            for (int c = 0; c < CELLS; c++)
                mixed += m->belief[b * CELLS + c] * m->tracked[(b * CELLS + c) * n + i];
            const double two = mixed * mixed, four = two * two, eight = four * four;
            m->tracker_weights[b * n + i] = mixed;
            m->tracker_weights[(m->n_bundles + b) * n + i] = eight;
            sum += eight;
        }
        m->scale[b] = 1.0 / sum;
    }
    ltm_combine(m);
}

/* One round. `awake` may be NULL; `out`, what is played, too. */
INLINE void ltm_round(ltm_memory *m, const double *restrict losses, const double *restrict awake, double *restrict out)
{
    const ptrdiff_t k = m->n_experts;
    const double *restrict played = m->played;
    double *restrict fed = m->losses;
    double mixture_loss = 0.0;
    if (awake == NULL) {
        VECTORS
        for (ptrdiff_t i = 0; i < k; i++) {
            fed[i] = losses[i];
            mixture_loss += played[i] * losses[i];
        }
        if (out != NULL)
            for (ptrdiff_t i = 0; i < k; i++) out[i] = played[i];
    } else {
        double total = 0.0, confident = 0.0;
        VECTORS
        for (ptrdiff_t i = 0; i < k; i++) {
            total += awake[i] * played[i];
            confident += awake[i];
        }
        if (confident == 0.0) { /* all sleep: nothing is restricted and nothing learned */
            if (out != NULL)
                for (ptrdiff_t i = 0; i < k; i++) out[i] = played[i];
            return;
        }
        const int alive = total > 1e-300;
        VECTORS
        for (ptrdiff_t i = 0; i < k; i++) {
            const double p = alive ? awake[i] * played[i] / total : awake[i] / confident;
            mixture_loss += p * losses[i];
            if (out != NULL) out[i] = p;
        }
        VECTORS
        for (ptrdiff_t i = 0; i < k; i++) fed[i] = mixture_loss + awake[i] * (losses[i] - mixture_loss);
    }
    ltm_learn(m, mixture_loss);
    ltm_track(m);
    ltm_combine(m);
    m->rounds += 1.0;
}

INLINE void ltm_rounds(ltm_memory *m, const double *losses, const double *awake, double *out, ptrdiff_t n_rounds)
{
    const ptrdiff_t k = m->n_experts;
    for (ptrdiff_t t = 0; t < n_rounds; t++)
        ltm_round(m, losses + t * k, awake == NULL ? NULL : awake + t * k, out == NULL ? NULL : out + t * k);
}

TARGET_AVX2 static void ltm_rounds_avx2(ltm_memory *m, const double *l, const double *a, double *o, ptrdiff_t t)
{
    ltm_rounds(m, l, a, o, t);
}

static void ltm_rounds_plain(ltm_memory *m, const double *l, const double *a, double *o, ptrdiff_t t)
{
    ltm_rounds(m, l, a, o, t);
}

static void ltm_run(ltm_memory *m, const double *losses, const double *awake, double *out, ptrdiff_t n_rounds, int avx2)
{
    if (avx2) ltm_rounds_avx2(m, losses, awake, out, n_rounds);
    else ltm_rounds_plain(m, losses, awake, out, n_rounds);
}

#endif
