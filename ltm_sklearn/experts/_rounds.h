/* Rounds of LongTermMemory and of Share-theta. The Python code in _long_term_memory.py, _trackers.py and _sharing.py
   is the definition.

   All rows have `stride` doubles, the number of experts rounded up to four and padded with zeros, so that every loop
   processes full vectors. Potentials and weights are not stored as logarithms; they have lower limits, so nothing
   underflows. */

#ifndef LTM_ROUNDS_H
#define LTM_ROUNDS_H

#include <math.h>
#include <stddef.h>

#define CELLS 3 /* in a bundle: two of Share-theta, one of Fixed Share */

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
/* Rows never overlap, which compilers cannot infer from the pointers. */
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
    const double *switching;               /* [CELLS] alpha */
    double memory;                         /* lower limit of theta of the first two cells; the third is Fixed Share */
    const double *doublings;               /* [n_bundles] how often a bundle's rate is doubled to give the next one's */
    double first_rate, potential_floor, tracker_sharing, trackers_prior, belief_floor, weight_floor, sharpened_from;
    /* state */
    double *prior;                         /* [stride] of one cell of each model */
    double *start;                         /* [stride] normalised prior */
    double *sharp_start, *inverse_start;   /* [stride] the same with a lower limit, and its inverse */
    double *potential, *confidence;        /* [n_rates][stride] */
    double *tracker_prior, *tracker_potential; /* [n_rates][n_trackers] */
    double *belief;                        /* [n_bundles][CELLS] */
    double *tracked;                       /* [n_bundles][CELLS][stride] */
    double *remembered;                    /* [n_bundles][2][stride] */
    /* derived from the above after each round; stored so that saving and loading does not change the last bit */
    double *tracker_weights;               /* [n_trackers][stride]: mixtures; their eighth powers, not yet multiplied by */
    double *scale;                         /* [n_bundles] */
    double *played;                        /* [stride] */
    /* scratch */
    double *losses, *regret, *share;       /* [stride] */
    double *likelihood;                    /* [n_bundles + 1][stride] */
    double *evidence;                      /* [n_bundles][CELLS] */
    double *tracker_share, *tracker_regret; /* [n_trackers] */
} ltm_memory;

/* exp(-x) for 0 <= x <= 1/16 by its series up to degree 9, exact to the last bit or two. */
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

/* Compute the loss of the mixture, and the losses to learn from, in `fed`: those of sleeping experts are replaced by
   that of the mixture. `out` gets the weights as if all experts were awake; `awake` and `out` may be NULL. Returns 0 if
   all experts sleep, and nothing is learned then. */
INLINE int feed(const double *restrict own, const double *restrict losses, const double *restrict awake,
                double *restrict fed, double *restrict out, ptrdiff_t k, double *mixture_loss)
{
    double mixture = 0.0, asleep = 0.0;
    if (out != NULL)
        for (ptrdiff_t i = 0; i < k; i++) out[i] = own[i];
    if (awake != NULL)
        for (ptrdiff_t i = 0; i < k; i++) asleep += 1.0 - awake[i];
    if (asleep == 0.0) {
        VECTORS
        for (ptrdiff_t i = 0; i < k; i++) {
            fed[i] = losses[i];
            mixture += own[i] * losses[i];
        }
        *mixture_loss = mixture;
        return 1;
    }
    double largest = 0.0, total = 0.0, confident = 0.0;
    for (ptrdiff_t i = 0; i < k; i++) largest = awake[i] > largest ? awake[i] : largest;
    if (largest == 0.0) return 0;
    for (ptrdiff_t i = 0; i < k; i++) {
        total += awake[i] / largest * own[i];
        confident += awake[i] / largest;
    }
    const int alive = total > 1e-300;
    for (ptrdiff_t i = 0; i < k; i++)
        mixture += awake[i] / largest * (alive ? own[i] / total : 1.0 / confident) * losses[i];
    for (ptrdiff_t i = 0; i < k; i++) fed[i] = mixture + awake[i] * (losses[i] - mixture);
    *mixture_loss = mixture;
    return 1;
}

/* Update the weights of a bundle's cells by Bayes' rule. */
INLINE void believe(double *restrict belief, double e0, double e1, double e2, double floor)
{
    belief[0] *= e0;
    belief[1] *= e1;
    belief[2] *= e2;
    const double inverse = 1.0 / (belief[0] + belief[1] + belief[2]);
    double total = 0.0;
    for (int c = 0; c < CELLS; c++) {
        const double q = belief[c] * inverse;
        belief[c] = q > floor ? q : floor;
        total += belief[c];
    }
    const double scale = 1.0 / total;
    for (int c = 0; c < CELLS; c++) belief[c] *= scale;
}

/* Compute from the losses the trackers' regrets, exp(-rate l) for each bundle, and the evidence of each cell,
   sum_i w(i) exp(-rate l(i)). */
INLINE void ltm_observe(ltm_memory *m, double mixture_loss)
{
    const ptrdiff_t n = 4 * (m->stride / 4), n_bundles = m->n_bundles;
    const double *restrict losses = m->losses;
    if (n_bundles == 0) return;
    double *restrict first = m->likelihood;
    VECTORS
    for (ptrdiff_t i = 0; i < n; i++) {
        /* exp(-x) = exp(-x/8)^8, so that the series is needed on a short interval only */
        const double root = exp_minus_small(m->first_rate * losses[i] * 0.125), two = root * root, four = two * two;
        first[i] = four * four;
    }
    for (ptrdiff_t i = m->n_experts; i < n; i++) first[i] = 0.0; /* or the padding would be the best expert */
    for (ptrdiff_t b = 0; b < n_bundles; b++) {
        const double *restrict w0 = m->tracked + CELLS * b * n, *restrict w1 = m->tracked + (CELLS * b + 1) * n;
        const double *restrict w2 = m->tracked + (CELLS * b + 2) * n, *restrict likelihood = m->likelihood + b * n;
        const double *restrict mixture = m->tracker_weights + b * n;
        const double *restrict sharp = m->tracker_weights + (n_bundles + b) * n;
        double *restrict next = m->likelihood + (b + 1) * n;
        double e0 = 0.0, e1 = 0.0, e2 = 0.0, loss = 0.0, sharp_loss = 0.0;
        VECTORS
        for (ptrdiff_t i = 0; i < n; i++) {
            const double l = likelihood[i];
            e0 += w0[i] * l;
            e1 += w1[i] * l;
            e2 += w2[i] * l;
            loss += mixture[i] * losses[i];
            sharp_loss += sharp[i] * losses[i];
            next[i] = l * l; /* for a rate twice this one */
        }
        for (int q = 1; q < m->doublings[b]; q++) {
            VECTORS
            for (ptrdiff_t i = 0; i < n; i++) next[i] *= next[i];
        }
        m->evidence[CELLS * b] = e0;
        m->evidence[CELLS * b + 1] = e1;
        m->evidence[CELLS * b + 2] = e2;
        m->tracker_regret[b] = mixture_loss - loss;
        m->tracker_regret[n_bundles + b] = mixture_loss - m->scale[b] * sharp_loss;
    }
}

/* Update potentials and confidences of models and trackers, and compute their shares sum_j rate_j W z. */
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
    const double *restrict tracker_regret = m->tracker_regret;
    double *restrict tracker_share = m->tracker_share;
    double total = 0.0;
    VECTORS
    for (ptrdiff_t g = 0; g < n_trackers; g++) tracker_share[g] = 0.0;
    for (ptrdiff_t j = 0; j < m->n_rates; j++) {
        const double rate = m->rates[j];
        double *restrict potential = m->tracker_potential + j * n_trackers;
        VECTORS
        for (ptrdiff_t g = 0; g < n_trackers; g++) {
            potential[g] *= 1.0 + rate * tracker_regret[g];
            total += potential[g];
        }
    }
    const double kept = 1.0 - m->tracker_sharing, spread = m->tracker_sharing * total / m->trackers_prior;
    for (ptrdiff_t j = 0; j < m->n_rates; j++) {
        const double rate = m->rates[j];
        double *restrict potential = m->tracker_potential + j * n_trackers;
        const double *restrict tracker_prior = m->tracker_prior + j * n_trackers;
        VECTORS
        for (ptrdiff_t g = 0; g < n_trackers; g++) {
            potential[g] = kept * potential[g] + spread * tracker_prior[g];
            tracker_share[g] += rate * potential[g];
        }
    }
}

/* Update all cells and bundles, and compute the weights of the coming round: the shares of the models, plus the shares
   of the trackers distributed by their weights. */
INLINE void ltm_track(ltm_memory *m)
{
    const ptrdiff_t n = 4 * (m->stride / 4), n_bundles = m->n_bundles;
    const double *restrict share = m->share;
    const double *restrict start = m->start, *restrict sharp_start = m->sharp_start;
    const double *restrict inverse_start = m->inverse_start;
    double *restrict played = m->played;
    const double mean_of_past = 1.0 / (m->rounds + 3.0);
    const double theta = m->memory > mean_of_past ? m->memory : mean_of_past;
    const double a0 = m->switching[0], a1 = m->switching[1], a2 = m->switching[2];
    const double floor = m->weight_floor, least = m->sharpened_from;

    double total = 0.0;
    VECTORS
    for (ptrdiff_t i = 0; i < n; i++) total += share[i];
    for (ptrdiff_t g = 0; g < m->n_trackers; g++) total += m->tracker_share[g];
    const double whole = 1.0 / total;
    VECTORS
    for (ptrdiff_t i = 0; i < n; i++) played[i] = share[i] * whole;
    for (ptrdiff_t b = 0; b < n_bundles; b++) {
        double *restrict w0 = m->tracked + CELLS * b * n, *restrict w1 = m->tracked + (CELLS * b + 1) * n;
        double *restrict w2 = m->tracked + (CELLS * b + 2) * n; /* Fixed Share: its memory is the prior */
        double *restrict v0 = m->remembered + 2 * b * n, *restrict v1 = m->remembered + (2 * b + 1) * n;
        double *restrict mixture = m->tracker_weights + b * n;
        double *restrict sharp = m->tracker_weights + (n_bundles + b) * n;
        double *restrict belief = m->belief + b * CELLS;
        const double *restrict likelihood = m->likelihood + b * n;
        const double e0 = m->evidence[CELLS * b], e1 = m->evidence[CELLS * b + 1], e2 = m->evidence[CELLS * b + 2];
        believe(belief, e0, e1, e2, m->belief_floor);
        const double q0 = belief[0], q1 = belief[1], q2 = belief[2];
        const double i0 = 1.0 / e0, i1 = 1.0 / e1, i2 = 1.0 / e2;
        const double k0 = (1.0 - a0) * i0, k1 = (1.0 - a1) * i1, k2 = (1.0 - a2) * i2;
        const double forget = 1.0 - theta, t0 = theta * i0, t1 = theta * i1;
        const double part = m->tracker_share[b] * whole;
        double sum = 0.0;
        VECTORS
        for (ptrdiff_t i = 0; i < n; i++) {
            const double l = likelihood[i];
            const double p0 = w0[i] * l, p1 = w1[i] * l, p2 = w2[i] * l; /* posteriors, before scaling */
            const double n0 = k0 * p0 + a0 * v0[i], n1 = k1 * p1 + a1 * v1[i], n2 = k2 * p2 + a2 * start[i];
            const double u0 = forget * v0[i] + t0 * p0, u1 = forget * v1[i] + t1 * p1;
            const double mixed = q0 * n0 + q1 * n1 + q2 * n2;
            const double ratio = mixed * inverse_start[i], base = ratio > least ? ratio : least;
            const double two = base * base, four = two * two, eight = four * four * sharp_start[i];
            w0[i] = n0;
            w1[i] = n1;
            w2[i] = n2;
            v0[i] = u0 > floor ? u0 : floor;
            v1[i] = u1 > floor ? u1 : floor;
            mixture[i] = mixed;
            sharp[i] = eight;
            sum += eight;
            played[i] += part * mixed;
        }
        m->scale[b] = 1.0 / sum;
        const double sharp_part = m->tracker_share[n_bundles + b] * m->scale[b] * whole;
        VECTORS
        for (ptrdiff_t i = 0; i < n; i++) played[i] += sharp_part * sharp[i];
    }
}

/* Learn a delayed round: regrets refer to the weights of models and trackers at prediction time. */
static void ltm_late(ltm_memory *m, const double *played, const double *trackers, const double *losses,
                     const double *awake)
{
    const ptrdiff_t k = m->n_experts, n_trackers = m->n_trackers;
    double mixture_loss;
    if (!feed(played, losses, awake, m->losses, NULL, k, &mixture_loss)) return;
    ltm_observe(m, mixture_loss);
    for (ptrdiff_t g = 0; g < n_trackers; g++) {
        double loss = 0.0;
        for (ptrdiff_t i = 0; i < k; i++) loss += trackers[g * k + i] * m->losses[i];
        m->tracker_regret[g] = mixture_loss - loss;
    }
    ltm_learn(m, mixture_loss);
    ltm_track(m);
    m->rounds += 1.0;
}

INLINE void ltm_rounds(ltm_memory *m, const double *losses, const double *awake, double *out, ptrdiff_t n_rounds)
{
    const ptrdiff_t k = m->n_experts;
    for (ptrdiff_t t = 0; t < n_rounds; t++) {
        double mixture_loss;
        if (!feed(m->played, losses + t * k, awake == NULL ? NULL : awake + t * k, m->losses,
                  out == NULL ? NULL : out + t * k, k, &mixture_loss))
            continue;
        ltm_observe(m, mixture_loss);
        ltm_learn(m, mixture_loss);
        ltm_track(m);
        m->rounds += 1.0;
    }
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

/* Share-theta: w <- (1-alpha) w exp(-rate l) / sum + alpha v, v <- (1-theta) v + theta w exp(-rate l) / sum.
   alpha and theta are given for each round learned. Returns the number of rounds learned; rounds in which all experts
   sleep are skipped. */

typedef struct {
    ptrdiff_t n_experts, stride;
    double rate, weight_floor;
    double *weights, *memory, *losses, *posterior; /* [stride], padded with zeros */
} sharing;

INLINE ptrdiff_t sharing_rounds(sharing *s, const double *restrict losses, const double *restrict awake,
                                const double *restrict alphas, const double *restrict thetas, double *restrict out,
                                ptrdiff_t n_rounds)
{
    const ptrdiff_t n = 4 * (s->stride / 4), k = s->n_experts;
    double *restrict weights = s->weights, *restrict memory = s->memory, *restrict fed = s->losses;
    double *restrict posterior = s->posterior;
    ptrdiff_t learned = 0;
    int squarings = 0;
    double root_rate = s->rate;
    while (root_rate > 0.0625) { /* exp(-x) = exp(-x/2)^2, until the series is exact */
        root_rate *= 0.5;
        squarings++;
    }
    for (ptrdiff_t t = 0; t < n_rounds; t++) {
        double mixture_loss;
        if (!feed(weights, losses + t * k, awake == NULL ? NULL : awake + t * k, fed, out + t * k, k, &mixture_loss))
            continue;
        double least = 0.0;
        if (s->rate > 200.0) { /* subtract the smallest loss, or all weights might underflow */
            least = 1.0;
            for (ptrdiff_t i = 0; i < k; i++) least = fed[i] < least ? fed[i] : least;
        }
        VECTORS
        for (ptrdiff_t i = 0; i < n; i++) posterior[i] = exp_minus_small(root_rate * (fed[i] - least));
        for (ptrdiff_t i = k; i < n; i++) posterior[i] = 0.0;
        for (int q = 0; q < squarings; q++) {
            VECTORS
            for (ptrdiff_t i = 0; i < n; i++) posterior[i] *= posterior[i];
        }
        double sum = 0.0;
        VECTORS
        for (ptrdiff_t i = 0; i < n; i++) {
            posterior[i] *= weights[i];
            sum += posterior[i];
        }
        const double alpha = alphas[learned], theta = thetas[learned], floor = s->weight_floor, inverse = 1.0 / sum;
        double total = 0.0;
        VECTORS
        for (ptrdiff_t i = 0; i < n; i++) {
            const double p = posterior[i] * inverse, recalled = (1.0 - theta) * memory[i] + theta * p;
            const double shared = (1.0 - alpha) * p + alpha * memory[i];
            weights[i] = shared > floor ? shared : floor;
            memory[i] = recalled > floor ? recalled : floor;
        }
        for (ptrdiff_t i = k; i < n; i++) weights[i] = memory[i] = 0.0;
        VECTORS
        for (ptrdiff_t i = 0; i < n; i++) total += weights[i];
        const double scale = 1.0 / total;
        VECTORS
        for (ptrdiff_t i = 0; i < n; i++) weights[i] *= scale;
        learned++;
    }
    return learned;
}

TARGET_AVX2 static ptrdiff_t sharing_rounds_avx2(sharing *s, const double *l, const double *a, const double *al,
                                                 const double *th, double *o, ptrdiff_t t)
{
    return sharing_rounds(s, l, a, al, th, o, t);
}

static ptrdiff_t sharing_rounds_plain(sharing *s, const double *l, const double *a, const double *al, const double *th,
                                      double *o, ptrdiff_t t)
{
    return sharing_rounds(s, l, a, al, th, o, t);
}

static ptrdiff_t sharing_run(sharing *s, const double *losses, const double *awake, const double *alphas,
                             const double *thetas, double *out, ptrdiff_t n_rounds, int avx2)
{
    return avx2 ? sharing_rounds_avx2(s, losses, awake, alphas, thetas, out, n_rounds)
                : sharing_rounds_plain(s, losses, awake, alphas, thetas, out, n_rounds);
}

#endif
