import { useParams } from 'wouter';
import { fileOfPath } from '../data/document-path.ts';
import { PolicyList } from '../policies/list.tsx';
import { PolicyPage } from '../policies/policy.tsx';

export function PoliciesPage() {
  const { file } = useParams();
  return file === undefined ? <PolicyList /> : <PolicyPage key={file} file={fileOfPath(file)} />;
}
