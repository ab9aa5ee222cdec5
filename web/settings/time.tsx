/** A moment in the words of the reader's clock. */
export const Time = ({ at }: { readonly at: string }) => (
  <time dateTime={at} className="small">
    {new Date(at).toLocaleString()}
  </time>
);
