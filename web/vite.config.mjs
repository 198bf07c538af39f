// The page as three files with fixed names, so that the program that embeds them can name them: index.html, viewer.js,
// viewer.css (and favicon.svg). Nothing is fetched from elsewhere, nothing is inline: the page runs under
// Content-Security-Policy default-src 'self' (script-src needs 'wasm-unsafe-eval' for packed meshes).
import { defineConfig } from 'vite';

export default defineConfig({
  base: './',
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    rollupOptions: {
      output: {
        inlineDynamicImports: true,
        entryFileNames: 'viewer.js',
        assetFileNames: (asset) => (asset.names[0]?.endsWith('.css') ? 'viewer.css' : '[name][extname]'),
      },
    },
  },
});
