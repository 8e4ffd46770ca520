/** What programs ask for, and the pages of the login. Not by the letter: the framework finds its routes in capitals, too. */
const SERVED = /^\/(?:v1|login|logout|healthz|readyz|metrics|openapi\.json|asyncapi\.json)(?:\/|$)/iu;

/** Whether an address is one of the web application: everything that is not served otherwise. */
export function isAppPath(path: string): boolean {
  return !SERVED.test(path);
}

/** Names with a hash of their content in them: what is behind one never changes. */
export function isHashed(path: string): boolean {
  return path.startsWith('/assets/');
}

/** Whether it is a file that is asked for; everything else is a place in the application, which finds it by itself. */
export function isFilePath(path: string): boolean {
  return isHashed(path) || /\.[A-Za-z0-9]{1,12}$/u.test(path);
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  ico: 'image/x-icon',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  webmanifest: 'application/manifest+json; charset=utf-8',
  webp: 'image/webp',
  woff2: 'font/woff2',
};

/** By its ending. What has none that is known is bytes: a browser does nothing with it. */
export function mediaTypeOf(path: string): string {
  return MEDIA_TYPES[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream';
}

/** Whether it gets smaller: texts do, pictures and fonts are so already. */
export function isText(mediaType: string): boolean {
  return mediaType.includes('charset=') || mediaType === 'image/x-icon';
}

/** What the browser takes of what there is, the smallest first; undefined: as it is. A weight of 0 is a no (RFC 9110, 12.5.3). */
export function encodingFor(accepted: string | undefined): 'br' | 'gzip' | undefined {
  const taken = (accepted ?? '')
    .split(',')
    .map((word) => word.trim().toLowerCase())
    .filter((word) => !/;\s*q=0(?:\.0*)?$/u.test(word))
    .map((word) => word.split(';', 1)[0]?.trim());
  return taken.includes('br') ? 'br' : taken.includes('gzip') ? 'gzip' : undefined;
}
