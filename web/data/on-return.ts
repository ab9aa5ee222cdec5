/** How often is looked at what nobody tells of, while it is shown. */
const lookMs = 5000;

/** Calls back when somebody comes back to the window, and every so often while they look at it. @returns how to stop */
export function onLooks(listener: () => void): () => void {
  const timer = setInterval(() => {
    if (!document.hidden) listener();
  }, lookMs);
  const stop = onReturn(listener);
  return () => {
    clearInterval(timer);
    stop();
  };
}

/** Calls back when somebody comes back to the window. @returns how to stop */
export function onReturn(listener: () => void): () => void {
  window.addEventListener('focus', listener);
  return () => window.removeEventListener('focus', listener);
}
