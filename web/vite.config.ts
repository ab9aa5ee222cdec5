import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The browser app as the server sends it: no inline script, hashed names, no maps. `build-web.mjs` says where it goes. */
export default defineConfig({
  root: 'web',
  plugins: [react()],
  build: {
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: false,
    // The policy of the page allows no data: scripts or fonts, and one request more costs nothing on loopback.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  logLevel: 'warn',
});
