/** How long a lease lasts, and how often whoever drives a run renews it (03 §11). */
export const leaseMs = 15_000;
export const renewMs = 5_000;
