import { type ReactNode, useEffect, useId, useRef } from 'react';

export type Tab = { readonly id: string; readonly label: ReactNode };

/** Tabs over what one of them shows. The selected one is usually kept in the query string (`useQuery`). */
export function Tabs({
  label,
  tabs,
  selected,
  onSelect,
  children,
}: {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly selected: string;
  readonly onSelect: (id: string) => void;
  readonly children: ReactNode;
}) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  // On a small screen the row of tabs scrolls; the selected one may be beyond its edge.
  useEffect(() => {
    const tab = tabIn(list.current, selected);
    if (list.current === null || tab === null) return;
    list.current.scrollLeft = tab.offsetLeft + tab.offsetWidth / 2 - list.current.clientWidth / 2;
  }, [selected]);
  const step = (by: number) => {
    const at = tabs.findIndex((tab) => tab.id === selected);
    const next = tabs[(at + by + tabs.length) % tabs.length];
    if (next === undefined) return;
    onSelect(next.id);
    tabIn(list.current, next.id)?.focus();
  };
  return (
    <div className="stack">
      <div className="tabs" role="tablist" aria-label={label} ref={list}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            className="tab"
            id={`${id}-${tab.id}`}
            data-tab={tab.id}
            aria-selected={tab.id === selected}
            tabIndex={tab.id === selected ? 0 : -1}
            onClick={() => onSelect(tab.id)}
            onKeyDown={(event) => {
              if (event.key === 'ArrowRight') step(1);
              if (event.key === 'ArrowLeft') step(-1);
            }}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div role="tabpanel" aria-labelledby={`${id}-${selected}`} className="stack">
        {children}
      </div>
    </div>
  );
}

const tabIn = (list: HTMLElement | null, id: string): HTMLElement | null =>
  list?.querySelector<HTMLElement>(`[data-tab="${CSS.escape(id)}"]`) ?? null;
