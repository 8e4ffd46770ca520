/** What the pages of the web application may do: what is from here, and nothing from elsewhere. Scripts and styles are files. */
export const APP_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** What no page here has a use for. */
export const APP_PERMISSIONS = 'camera=(), geolocation=(), microphone=(), payment=(), usb=()';
