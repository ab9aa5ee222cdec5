import { type ComponentType, lazy, type ReactNode, Suspense, useEffect } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import { onReturn } from './data/on-return.ts';
import { useStore } from './data/store.ts';
import { PageFault } from './frame/fault.tsx';
import { Frame } from './frame/frame.tsx';
import { keepFocus } from './frame/keep-focus.ts';
import { holdTyped } from './frame/typed-on.ts';
import { pages } from './pages.ts';
import { Page } from './parts/page.tsx';
import { Empty, Skeleton } from './parts/states.tsx';
import { LoginAgain, LoginPage } from './session/login.tsx';
import { PasswordAgain, PasswordPage } from './session/password.tsx';
import { ProofDialog } from './session/proof.tsx';
import { renewWhileUsed } from './session/renewal.ts';
import { hearOtherTabs, lookElsewhere, session } from './session/session.ts';

const lazily = (load: () => Promise<ComponentType>) => lazy(() => load().then((found) => ({ default: found })));
const routes = pages.flatMap(({ at, paths, stays, load }) => {
  const Shown = lazily(load);
  return paths.map((path) => ({ key: stays === true ? at : path, path, Shown }));
});

/** Who is there decides what is drawn; a login that has ended leaves the page under the form. */
export function App() {
  const state = useStore(session);
  useEffect(() => onReturn(() => void lookElsewhere()), []);
  useEffect(hearOtherTabs, []);
  useEffect(renewWhileUsed, []);
  useEffect(keepFocus, []);
  useEffect(holdTyped, []);
  switch (state.at) {
    case 'in':
    case 'expired':
      return <Under over={state.at === 'expired' ? <LoginAgain /> : null} />;
    case 'must-change':
      return state.over ? <Under over={<PasswordAgain />} /> : <PasswordPage />;
    default:
      return <LoginPage />;
  }
}

/** The page, with what has to be done before it goes on. */
const Under = ({ over }: { readonly over: ReactNode }) => (
  <>
    <Inside />
    {over}
    <ProofDialog />
  </>
);

function Inside() {
  const [path] = useLocation();
  return (
    <Frame>
      <PageFault key={pageOf(path)}>
        <Suspense
          fallback={
            <Page title="">
              <Skeleton />
            </Page>
          }
        >
          <Switch>
            {routes.map(({ key, path, Shown }) => (
              <Route key={key} path={path}>
                <Shown />
              </Route>
            ))}
            <Route path="/login">
              <Home />
            </Route>
            <Route>
              <Page title="Not found">
                <Empty action={<Link href="/chat">Go to the chat</Link>}>There is no page at this address.</Empty>
              </Page>
            </Route>
          </Switch>
        </Suspense>
      </PageFault>
    </Frame>
  );
}

/** A page that failed says nothing about the others; parts of one page are not begun anew by its key. */
const pageOf = (path: string): string => path.split('/')[1] ?? '';

const first = routes[0];
const Home = () => (first === undefined ? null : <first.Shown />);
