import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The API. The browser sees one origin, so the cookie needs no setting. */
const api = process.env.API_URL ?? 'http://localhost:3000';

export default defineConfig({
  root: 'web',
  plugins: [react()],
  build: { outDir: '../dist/web', emptyOutDir: true },
  server: {
    host: process.env.HOST ?? 'localhost',
    port: Number(process.env.PORT ?? 5173),
    strictPort: true,
    // With a slash: '/auth' would forward the module `auth.ts`, too.
    proxy: { '/auth/': api, '/hello': api },
  },
});
