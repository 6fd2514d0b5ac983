// The header of a request that one node sends for a caller to another one.

/** Such a request is answered there or not at all, so that it never goes in circles. It gives no rights. */
export const forwardedHeader = "tutti-forwarded";
