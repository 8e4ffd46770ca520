/** RFC 3339 in UTC with milliseconds; pure: `now`, in milliseconds since the epoch, is given. */
export function instantOf(now: number): string {
  return new Date(now).toISOString();
}
