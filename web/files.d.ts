/** Styles are put together by the bundler. */
declare module '*.css';
