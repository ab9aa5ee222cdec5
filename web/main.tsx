import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { applyTheme } from './data/kept.ts';
import { keepPlaces } from './data/places.ts';
import { isAt, pages } from './pages.ts';
import { openSession } from './session/session.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/frame.css';
import './styles/print.css';

applyTheme();
keepPlaces();
// Who is there and the code of the page are on their way while the app is drawn for the first time.
void openSession();
// Whoever draws the page meets what became of it.
pages
  .find((page) => isAt(page, location.pathname))
  ?.load()
  .catch(() => undefined);
const place = document.getElementById('app');
if (place !== null) createRoot(place).render(<App />);
