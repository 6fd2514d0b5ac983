// How often a task may be handed over.

/** Further handovers are refused, so that agents cannot pass work in circles. */
export const maxHandovers = 8;
