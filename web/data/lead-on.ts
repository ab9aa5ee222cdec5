/**
 * Called when an act begins that leads to another page. What it gives goes there when the act is done, unless its owner has
 * gone elsewhere meanwhile: nobody is taken away from what they have turned to.
 */
export function leadOn(): (go: () => void) => void {
  const { pathname } = location;
  return (go) => {
    if (location.pathname === pathname) go();
  };
}
