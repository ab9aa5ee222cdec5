/** The one operator (09 §4). */
export const userName = 'admin';
export const userId = 'operator';
