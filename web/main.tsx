import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { applyTheme } from './data/kept.ts';
import { openSession } from './session/session.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/frame.css';

applyTheme();
const place = document.getElementById('app');
if (place !== null) createRoot(place).render(<App />);
void openSession();
