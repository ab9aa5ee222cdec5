import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from 'react';

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
  const go = (event: KeyboardEvent) => {
    const at = tabs.findIndex((tab) => tab.id === selected);
    const next = keys[event.key]?.(tabs, at);
    if (next === undefined || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    // Home and End would scroll the page besides.
    event.preventDefault();
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
            aria-controls={tab.id === selected ? `${id}-panel` : undefined}
            onKeyDown={go}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${selected}`} className="stack">
        {children}
      </div>
    </div>
  );
}

/** The keys of a row of tabs; the arrows go round. */
const keys: Readonly<Record<string, (tabs: readonly Tab[], at: number) => Tab | undefined>> = {
  ArrowRight: (tabs, at) => tabs[(at + 1) % tabs.length],
  ArrowLeft: (tabs, at) => tabs.at(at - 1),
  Home: (tabs) => tabs[0],
  End: (tabs) => tabs.at(-1),
};

const tabIn = (list: HTMLElement | null, id: string): HTMLElement | null =>
  list?.querySelector<HTMLElement>(`[data-tab="${CSS.escape(id)}"]`) ?? null;
