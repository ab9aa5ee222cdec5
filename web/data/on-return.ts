/** Calls back when somebody comes back to the window. @returns how to stop */
export function onReturn(listener: () => void): () => void {
  window.addEventListener('focus', listener);
  return () => window.removeEventListener('focus', listener);
}
